"""The exact vector, 32 bits an entry."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from lossyfl.compressors.base import SendContext
from lossyfl.compressors.bounded import clipped
from lossyfl.links.base import LinkState
from lossyfl.types import Vector
from lossyfl.wire.codec import decode
from lossyfl.wire.frame import pack_raw
from lossyfl.wire.header import HARD_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Lossless:
    """Sends x as it is."""

    incremental: ClassVar[bool] = False

    def init(self, start: Vector) -> LinkState:
        """Nothing to remember."""
        del start
        return LinkState()

    def fits(self, state: LinkState, entries: int) -> bool:
        """Whether its vectors have the lengths that they need."""
        del entries
        return state.lengths == (0, 0, 0)

    def check(self, tensors: Sequence[int], rounds: int | None = None) -> None:
        """All can be sent."""
        del tensors, rounds

    def send(self, x: Vector, state: LinkState, context: SendContext) -> tuple[bytes, LinkState]:
        """X as raw floats."""
        whole = x if context.bound == math.inf else clipped(x, context.bound)
        return pack_raw(whole, context.meta), state

    def quantized(self, x: Vector, state: LinkState, context: SendContext) -> None:
        """Nothing is."""
        del x, state, context

    def receive(self, frame: bytes, state: LinkState) -> tuple[Vector, LinkState]:
        """X."""
        return decode(frame, max_entries=HARD_LIMIT), state  # the caller knows the length
