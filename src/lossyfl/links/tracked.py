"""The change against what the receivers hold: LFL's broadcast, Algorithm 1, lines 2 and 3.

    frame = Q(x - estimate, q1)        estimate' = estimate + Q(x - estimate, q1)

Sender and receivers keep the same estimate to the bit, because both move it by the same frame with
one float32 addition an entry. `compensate` adds the error of earlier rounds before quantizing:

    frame = Q(x - estimate + memory)   memory' = x - estimate + memory - Q(...)

Where the server goes on from the estimate, as in line 6, that is the recursion of a server that goes on from
its own model: z = x + memory. Where it does so anyway, the error counts twice; this is likely what Remark 1
of the paper found to hurt.

With `predict` both ends expect the model to go on as it went: its trend is the running average of how the
estimate moved. A frame names a gain, in one byte, by which the trend is multiplied, and carries the rest:

    frame = gain, Q(x - estimate - gain trend)    move = gain trend + Q(...)
    estimate' = estimate + move                   trend' = trend + NEW (move - trend)

The sender takes the gain that leaves least energy, or none where the frame without it is better: what is left
of a sparse vector may be smaller and yet harder to say. So nothing gets worse by it, and what is known of the
convergence of Q(x - estimate) still holds. This is predictive coding (of uplinks: Yue et al.,
"Communication-efficient federated learning via predictive coding", IEEE Journal of Selected Topics in Signal
Processing, 2022), here of broadcasts.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lossyfl.compressors.base import Compressor, SendContext
from lossyfl.errors import FrameError, InputError
from lossyfl.links.base import LinkState, nothing
from lossyfl.types import Vector
from lossyfl.wire.codec import decode
from lossyfl.wire.header import HEADER, WHOLE, read_header
from lossyfl.wire.vectors import product

NEW = 0.2
"""What the latest move counts in the trend: coarse frames are noisy, and five of them are less so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracked:
    """Sends Q(x - estimate), or what a prediction leaves of it."""

    compressor: Compressor
    compensate: bool = False
    predict: bool = False

    incremental: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.predict, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError("predict", of="scheme", allowed="true or false", got=self.predict)
        if self.predict and self.compensate:
            allowed = "false where errors are compensated"
            raise InputError("predict", of="scheme", allowed=allowed, got=self.predict)

    def init(self, start: Vector) -> LinkState:
        """Both ends hold `start`."""
        memory = np.zeros_like(start) if self.compensate else nothing()
        trend = np.zeros_like(start) if self.predict else nothing()
        return LinkState(estimate=start.copy(), memory=memory, trend=trend)

    def fits(self, state: LinkState, entries: int) -> bool:
        """Whether its vectors have the lengths that they need."""
        memory, trend = entries * self.compensate, entries * self.predict
        return state.lengths == (entries, memory, trend)

    def check(self, tensors: Sequence[int], rounds: int | None = None) -> None:
        """Raise if vectors of tensors of these lengths cannot be sent."""
        self.compressor.check(tensors, rounds)

    def send(self, x: Vector, state: LinkState, context: SendContext) -> tuple[bytes, LinkState]:
        """Q(x - estimate); the sender's estimate moves as the receivers' will."""
        sent = self._send(x, state, context)
        gain = self._best_gain(x, state) if self.predict else 0
        if not gain:
            return sent
        meta = replace(context.meta, gain=gain)
        predicted = self._send(x, state, replace(context, meta=meta))
        return min(predicted, sent, key=lambda each: _cost(x, *each))

    def _send(self, x: Vector, state: LinkState, context: SendContext) -> tuple[bytes, LinkState]:
        """The frame with the gain that its meta names."""
        change = self.quantized(x, state, context)
        _, frame = self.compressor.make(change, context)
        _, after = self.receive(frame, state)
        if self.compensate:
            after = replace(after, memory=change - decode(frame, max_entries=len(x)))
        return frame, after

    def quantized(self, x: Vector, state: LinkState, context: SendContext) -> Vector:
        """The change, without what is expected, with what earlier frames left over if that is kept."""
        change = x - state.estimate
        if self.compensate:
            return change + state.memory
        if not context.meta.gain:
            return change
        return change - _times(state.trend, context.meta.gain / WHOLE)

    def _best_gain(self, x: Vector, state: LinkState) -> int:
        """The gain that leaves least energy."""
        energy = product(state.trend, state.trend)
        best = product(state.trend, x - state.estimate) / energy if energy else 0.0
        return int(np.clip(round(WHOLE * best), 0, 255)) if math.isfinite(best) else 0

    def receive(self, frame: bytes, state: LinkState) -> tuple[Vector, LinkState]:
        """The estimate, moved by the frame."""
        sent = decode(frame, max_entries=len(state.estimate))
        gain = read_header(frame, len(state.estimate)).meta.gain
        if not self.predict:
            if gain:
                raise FrameError(HEADER.size, "no gain: this link has no trend", gain)
            estimate = state.estimate + sent
            return estimate, replace(state, estimate=estimate)
        move: Vector = _times(state.trend, gain / WHOLE) + sent
        estimate = state.estimate + move
        trend = state.trend + _times(move - state.trend, NEW)
        return estimate, replace(state, estimate=estimate, trend=trend)


def _cost(x: Vector, frame: bytes, after: LinkState) -> float:
    """The error that a frame leaves; of longer ones so much more as their bits could have saved."""
    left = x - after.estimate
    return product(left, left) * 4 ** (8 * len(frame) / len(x))


def _times(x: Vector, factor: float) -> Vector:
    """One float32 product an entry."""
    product: Vector = x * np.float32(factor)
    return product
