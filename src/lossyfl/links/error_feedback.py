"""The quantized vector with the error of earlier rounds added before.

Seide et al., "1-bit stochastic gradient descent", Interspeech 2014; in the paper the uplink of every
lossy system, with delta_m as its memory, and (as in DoubleSqueeze, Tang et al., ICML 2019) the downlink
of LGM:

    frame = Q(x + memory)        memory' = x + memory - Q(x + memory)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lossyfl.compressors.base import Compressor, SendContext
from lossyfl.compressors.bounded import clipped, make_bounded
from lossyfl.links.base import LinkState
from lossyfl.types import Vector
from lossyfl.wire.adding import terms_of
from lossyfl.wire.codec import decode
from lossyfl.wire.header import HARD_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorFeedback:
    """Sends Q(x + memory) and remembers the error."""

    compressor: Compressor

    incremental: ClassVar[bool] = False

    def init(self, start: Vector) -> LinkState:
        """No error yet."""
        return LinkState(memory=np.zeros_like(start))

    def fits(self, state: LinkState, entries: int) -> bool:
        """Whether its vectors have the lengths that they need."""
        return state.lengths == (0, entries, 0)

    def check(self, tensors: Sequence[int], rounds: int | None = None) -> None:
        """Raise if vectors of tensors of these lengths cannot be sent."""
        self.compressor.check(tensors, rounds)

    def send(self, x: Vector, state: LinkState, context: SendContext) -> tuple[bytes, LinkState]:
        """Q(x + memory); what it lost is remembered."""
        whole = x + state.memory
        if context.bound == math.inf:
            made, frame = self.compressor.make(whole, context)
        else:
            whole = clipped(whole, context.bound)
            made, frame = make_bounded(self.compressor, whole, context)
        terms_of(made).add_to(whole, -1)  # whole - decode(frame) to the bit, in one pass
        return frame, LinkState(memory=whole)

    def quantized(self, x: Vector, state: LinkState, context: SendContext) -> Vector:
        """X + memory."""
        del context
        return x + state.memory

    def receive(self, frame: bytes, state: LinkState) -> tuple[Vector, LinkState]:
        """Q(x + memory)."""
        return decode(frame, max_entries=HARD_LIMIT), state  # the caller knows the length
