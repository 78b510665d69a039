"""The exact vector, 32 bits per entry."""

import math
from dataclasses import dataclass

from lossyfl.compressors.base import SendContext
from lossyfl.compressors.bounded import clipped
from lossyfl.links.base import Sent
from lossyfl.types import Vector
from lossyfl.wire.codec import decode
from lossyfl.wire.frame import pack_raw
from lossyfl.wire.header import HARD_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class NoState:
    """Nothing is remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lossless:
    """Sends x as it is."""

    compressor = None
    keeps_error = False
    forgets_error = False
    incremental = False

    def init(self, start: Vector) -> NoState:
        """Nothing to remember."""
        del start
        return NoState()

    def send(self, x: Vector, state: NoState, context: SendContext) -> Sent[NoState]:
        """The frame of x as raw floats; clipped, where the context sets a bound."""
        whole = x if context.bound == math.inf else clipped(x, context.bound)
        frame = pack_raw(whole, context.meta)
        return Sent(frame=frame, state=state, source=lambda: whole)

    def receive(self, frame: bytes, state: NoState) -> tuple[Vector, NoState]:
        """The x that was sent, to the bit."""
        return decode(frame, max_entries=HARD_LIMIT), state  # the caller knows the length

    def undo(self, frame: bytes, state: NoState) -> NoState:
        """The vector is lost: there is nowhere to keep it."""
        del frame
        return state
