"""The change against what the receivers hold, without what the movement so far tells of it.

Both ends expect the model to go on as it went: its trend is the running average of how the estimate moved. A
frame names a gain, in one byte, by which the trend is multiplied, and carries the rest:

    frame = gain, Q(x - estimate - gain trend)    move = gain trend + Q(...)
    estimate' = estimate + move                   trend' = trend + NEW (move - trend)

The sender takes the gain that leaves least energy, or none where the frame without it is better: what is left
of a sparse vector may be smaller and yet harder to say. So nothing gets worse by it, and what is known of the
convergence of Q(x - estimate) still holds. This is predictive coding (of uplinks: Yue et al.,
"Communication-efficient federated learning via predictive coding", IEEE Journal of Selected Topics in Signal
Processing, 2022), here of broadcasts.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from lossyfl.compressors.base import Compressor, SendContext
from lossyfl.links.base import Incremental, Sent
from lossyfl.types import Vector
from lossyfl.wire.adding import terms_of
from lossyfl.wire.codec import decode_update
from lossyfl.wire.header import WHOLE
from lossyfl.wire.vectors import product

NEW = 0.2
"""What the latest move counts in the trend: coarse frames are noisy, and five of them are less so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedState:
    """What both ends hold: the estimate, and by how much it is expected to move next."""

    estimate: Vector
    trend: Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Predicted(Incremental[PredictedState]):
    """Sends Q(x - estimate), or what a prediction leaves of it."""

    compressor: Compressor

    keeps_error = False
    forgets_error = False
    selects = True
    mergeable = False  # the trend follows every single move

    def init(self, start: Vector) -> PredictedState:
        """Both ends hold `start`, and nothing has moved yet."""
        return PredictedState(estimate=start.copy(), trend=np.zeros_like(start))

    def trend(self, state: PredictedState) -> Vector:
        """By how much the estimate is expected to move next."""
        return state.trend

    def join(self, estimate: Vector, trend: Vector) -> PredictedState:
        """The state of a device that joins."""
        return PredictedState(estimate=estimate, trend=trend)

    def send(self, x: Vector, state: PredictedState, context: SendContext) -> Sent[PredictedState]:
        """The better of Q(x - estimate) and what the prediction with the best gain leaves of it."""
        change = x - state.estimate
        sent = self._send(x, change, state, context)
        gain = _best_gain(change, state.trend)
        if not gain:
            return sent
        named = replace(context, meta=replace(context.meta, gain=gain))
        rest = change - _times(state.trend, gain / WHOLE)
        return min(self._send(x, rest, state, named), sent, key=_cost)

    def _send(
        self, x: Vector, rest: Vector, state: PredictedState, context: SendContext
    ) -> Sent[PredictedState]:
        """The frame of the rest, with the gain that its meta names."""
        made, frame = self.compressor.make(rest, context)
        move = _times(state.trend, context.meta.gain / WHOLE)
        terms_of(made).add_to(move, 1)
        after = _moved(state, move)
        lost = x - after.estimate
        return Sent(frame=frame, state=after, source=lambda: rest, lost=lost)

    def receive(self, frame: bytes, state: PredictedState) -> tuple[Vector, PredictedState]:
        """The estimate, moved by the gain that the frame names and by what it carries."""
        meta, sent = decode_update(frame, max_entries=len(state.estimate))
        after = _moved(state, _times(state.trend, meta.gain / WHOLE) + sent)
        return after.estimate, after


def _moved(state: PredictedState, move: Vector) -> PredictedState:
    """The state after a move."""
    trend: Vector = state.trend + _times(move - state.trend, NEW)
    return PredictedState(estimate=state.estimate + move, trend=trend)


def _best_gain(change: Vector, trend: Vector) -> int:
    """The gain that leaves least energy of a change."""
    energy = product(trend, trend)
    best = product(trend, change) / energy if energy else 0.0
    return int(np.clip(round(WHOLE * best), 0, 255)) if math.isfinite(best) else 0


def _cost(sent: Sent[PredictedState]) -> float:
    """The error that a frame leaves; of longer ones so much more as their bits could have saved."""
    left = sent.source() if sent.lost is None else sent.lost
    return product(left, left) * 4 ** (8 * len(sent.frame) / len(left))


def _times(x: Vector, factor: float) -> Vector:
    """One float32 product per entry."""
    product: Vector = x * np.float32(factor)
    return product
