"""The quantized vector with the error of earlier rounds added before.

Seide et al., "1-bit stochastic gradient descent", Interspeech 2014; in the paper the uplink of every
lossy system, with delta_m as its memory, and (as in DoubleSqueeze, Tang et al., ICML 2019) how LGM sends its
model:

    frame = Q(x + memory)        memory' = x + memory - Q(x + memory)

A frame that never arrived goes back into the memory, so the next one carries it.
"""

import math
from dataclasses import dataclass

import numpy as np

from lossyfl.compressors.base import Compressor, SendContext
from lossyfl.compressors.bounded import clipped, make_bounded
from lossyfl.links.base import Sent
from lossyfl.types import Vector
from lossyfl.wire.adding import terms_of
from lossyfl.wire.codec import decode
from lossyfl.wire.header import HARD_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackState:
    """The memory: what the sender has not been able to send yet; zeros at the receiver."""

    memory: Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorFeedback:
    """Sends Q(x + memory) and remembers the error."""

    compressor: Compressor

    keeps_error = True
    forgets_error = False
    incremental = False

    def init(self, start: Vector) -> FeedbackState:
        """No error yet."""
        return FeedbackState(memory=np.zeros_like(start))

    def send(self, x: Vector, state: FeedbackState, context: SendContext) -> Sent[FeedbackState]:
        """Q(x + memory); what it lost is remembered."""
        whole = _whole(x, state, context.bound)
        if context.bound == math.inf:
            made, frame = self.compressor.make(whole, context)
        else:
            made, frame = make_bounded(self.compressor, whole, context)
        terms_of(made).add_to(whole, -1)  # whole - decode(frame) to the bit, in one pass
        after = FeedbackState(memory=whole)
        return Sent(
            frame=frame, state=after, source=lambda: _whole(x, state, context.bound), lost=whole
        )

    def receive(self, frame: bytes, state: FeedbackState) -> tuple[Vector, FeedbackState]:
        """The Q(x + memory) that was sent."""
        return decode(frame, max_entries=HARD_LIMIT), state  # the caller knows the length

    def undo(self, frame: bytes, state: FeedbackState) -> FeedbackState:
        """What the frame carried is to be sent again."""
        carried = decode(frame, max_entries=len(state.memory))
        return FeedbackState(memory=state.memory + carried)


def _whole(x: Vector, state: FeedbackState, bound: float) -> Vector:
    """X + memory, no longer than the bound."""
    whole: Vector = x + state.memory
    return whole if bound == math.inf else clipped(whole, bound)
