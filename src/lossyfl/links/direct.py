"""The quantized vector itself."""

from dataclasses import dataclass
from typing import ClassVar

from lossyfl.codec import decode
from lossyfl.links.base import LinkState, Message
from lossyfl.links.schedule import Schedule
from lossyfl.quantizers.rotated import Rotated
from lossyfl.rotation import rotate
from lossyfl.types import Vector
from lossyfl.wire.frame import HARD_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Direct:
    """Sends Q(x) and forgets the error: the downlink of LTGM, whose Q rotates first."""

    quantizer: Schedule

    incremental: ClassVar[bool] = False

    def init(self, start: Vector) -> LinkState:
        """Nothing to remember."""
        del start
        return LinkState()

    def fits(self, state: LinkState, entries: int) -> bool:
        """Whether its vectors have the lengths that they need."""
        del entries
        return state.lengths == (0, 0)

    def send(self, x: Vector, state: LinkState, message: Message) -> tuple[bytes, LinkState]:
        """Q(x)."""
        return self.quantizer.encode(x, message), state

    def quantized(self, x: Vector, state: LinkState, message: Message) -> Vector:
        """X, or what a rotation makes of it."""
        del state
        chosen = self.quantizer.at(message.address.round)
        return rotate(x, message.rng.a) if isinstance(chosen, Rotated) else x

    def receive(self, frame: bytes, state: LinkState) -> tuple[Vector, LinkState]:
        """Q(x)."""
        return decode(frame, max_entries=HARD_LIMIT), state
