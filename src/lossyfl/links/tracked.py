"""The change against what the receivers hold: LFL's broadcast, Algorithm 1, lines 2 and 3.

    frame = Q(x - estimate, q1)        estimate' = estimate + Q(x - estimate, q1)

Sender and receivers keep the same estimate to the bit, because both move it by the same values with
one float32 addition per entry: the sender by the symbols that it has, the receivers by those that they
decode.
"""

from dataclasses import dataclass

from lossyfl.compressors.base import Compressor, SendContext
from lossyfl.errors import FrameError
from lossyfl.links.base import AbstractDownlink, Incremental, Sent
from lossyfl.types import Quantized, Vector
from lossyfl.wire.adding import terms_of
from lossyfl.wire.codec import decode_update
from lossyfl.wire.header import HEADER, FrameMeta


@dataclass(frozen=True, slots=True, kw_only=True)
class TrackedState:
    """The estimate that both ends hold."""

    estimate: Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracked(Incremental[TrackedState], AbstractDownlink[TrackedState]):
    """Sends Q(x - estimate)."""

    compressor: Compressor

    keeps_error = False
    forgets_error = False

    def init(self, start: Vector) -> TrackedState:
        """Both ends hold `start`."""
        return TrackedState(estimate=start.copy())

    def send(self, x: Vector, state: TrackedState, context: SendContext) -> Sent[TrackedState]:
        """Q(x - estimate); the sender's estimate moves as the receivers' will."""
        change = x - state.estimate
        made, frame = self.compressor.make(change, context)
        after = TrackedState(estimate=moved(state.estimate, made))
        lost = x - after.estimate
        return Sent(frame=frame, state=after, source=lambda: change, lost=lost)

    def receive(self, frame: bytes, state: TrackedState) -> tuple[Vector, TrackedState]:
        """The estimate, moved by the frame."""
        estimate = state.estimate + plain_update(frame, len(state.estimate))
        return estimate, TrackedState(estimate=estimate)


def moved(estimate: Vector, made: Quantized) -> Vector:
    """Estimate + decode(frame) to the bit, in one pass and without decoding."""
    after = estimate.copy()
    terms_of(made).add_to(after, 1)
    return after


def plain_update(frame: bytes, entries: int) -> Vector:
    """What a frame without a gain decodes to; one with a gain is for a link with a trend."""
    meta, sent = decode_update(frame, max_entries=entries)
    without_gain(meta)
    return sent


def without_gain(meta: FrameMeta) -> FrameMeta:
    """What a frame says of itself, if it is for a link without a trend."""
    if meta.gain:
        raise FrameError(HEADER.size, "no gain: this link has no trend", meta.gain)
    return meta
