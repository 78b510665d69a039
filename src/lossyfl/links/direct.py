"""The quantized vector itself."""

from dataclasses import dataclass

from lossyfl.compressors.base import Compressor, SendContext
from lossyfl.links.base import Sent
from lossyfl.links.lossless import NoState
from lossyfl.types import Vector
from lossyfl.wire.codec import decode
from lossyfl.wire.header import HARD_LIMIT
from lossyfl.wire.values import values


@dataclass(frozen=True, slots=True, kw_only=True)
class Direct:
    """Sends Q(x) and forgets the error: how LTGM sends its model, with a Q that rotates first."""

    compressor: Compressor

    keeps_error = False
    forgets_error = True
    incremental = False

    def init(self, start: Vector) -> NoState:
        """Nothing to remember."""
        del start
        return NoState()

    def send(self, x: Vector, state: NoState, context: SendContext) -> Sent[NoState]:
        """Q(x); what was quantized is x, or what a rotation made of it."""
        made, frame = self.compressor.make(x, context)
        source = x if made.source is None else made.source
        heard = values(made)
        return Sent(frame=frame, state=state, source=lambda: source, lost=x - heard, heard=heard)

    def receive(self, frame: bytes, state: NoState) -> tuple[Vector, NoState]:
        """The Q(x) that was sent."""
        return decode(frame, max_entries=HARD_LIMIT), state  # the caller knows the length

    def undo(self, frame: bytes, state: NoState) -> NoState:
        """The vector is lost: there is nowhere to keep it."""
        del frame
        return state
