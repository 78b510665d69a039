"""The change against what the receivers hold, on a grid: many of its frames can be merged into one, exactly.

    frame = Q(x - estimate), values multiples of a power of two        estimate' = estimate + Q(x - estimate)

It begins with an estimate on a grid, too. As long as no entry is beyond 2^24 steps, no addition rounds, and
the estimates of two rounds differ by the sum of what lies between them (`lossyfl.wire.grid`). An addition
that would round shows that the estimate has outgrown its grid, which takes one that has become 16 times as
large as it was. Then the frame is not an update: it is x itself, on a grid that suits it, and all begin anew.
"""

from dataclasses import dataclass, replace

import numpy as np

from lossyfl.compressors.base import Compressor, SendContext, packed
from lossyfl.compressors.snapped import FINEST, Rounded, power_above, snapped
from lossyfl.links.base import AbstractDownlink, Incremental, Sent
from lossyfl.links.tracked import TrackedState, without_gain
from lossyfl.types import Vector
from lossyfl.wire.codec import decode_update
from lossyfl.wire.header import Kind
from lossyfl.wire.values import values


@dataclass(frozen=True, slots=True, kw_only=True)
class Gridded(Incremental[TrackedState], AbstractDownlink[TrackedState]):
    """Sends Q(x - estimate) with values on a grid."""

    compressor: Compressor

    keeps_error = False
    forgets_error = False

    @property
    def mergeable(self) -> bool:
        """Sums of its frames are exact, or found not to be."""
        return True

    def init(self, start: Vector) -> TrackedState:
        """Both ends hold `start`."""
        return TrackedState(estimate=start.copy())

    def send(self, x: Vector, state: TrackedState, context: SendContext) -> Sent[TrackedState]:
        """Q(x - estimate); the sender's estimate moves as the receivers' will."""
        change = x - state.estimate
        made, _ = self.compressor.make(change, context)
        there = snapped(made, change, least=FINEST * power_above(state.estimate))
        move = values(there)
        estimate: Vector = state.estimate + move
        if not is_exact(state.estimate, move, estimate):
            return _anew(x, context)
        frame, after = packed(there, context), TrackedState(estimate=estimate)
        lost: Vector = x - estimate
        return Sent(frame=frame, state=after, source=lambda: change, lost=lost)

    def receive(self, frame: bytes, state: TrackedState) -> tuple[Vector, TrackedState]:
        """The estimate, moved by one frame, merged or not; or the one that all begin anew with."""
        meta, sent = decode_update(frame, max_entries=len(state.estimate))
        is_new = without_gain(meta).kind == Kind.MODEL
        estimate = sent if is_new else state.estimate + sent
        return estimate, TrackedState(estimate=estimate)


def is_exact(a: Vector, b: Vector, total: Vector) -> bool:
    """Whether a + b = total without rounding (Knuth's two-sum: what was rounded is a difference of these)."""
    return np.array_equal(total - a, b) and np.array_equal(total - b, a)


def _anew(x: Vector, context: SendContext) -> Sent[TrackedState]:
    """The sender's vector itself, on a grid of its own."""
    whole = replace(context, meta=replace(context.meta, kind=Kind.MODEL))
    made, frame = Rounded().make(x, whole)
    estimate = values(made)
    after = TrackedState(estimate=estimate)
    return Sent(frame=frame, state=after, source=lambda: x, lost=x - estimate, heard=estimate)
