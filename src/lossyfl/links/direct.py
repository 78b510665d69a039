"""The quantized vector itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from lossyfl.compressors.base import Compressor, SendContext
from lossyfl.links.base import LinkState
from lossyfl.quantizers.rotated import Rotated
from lossyfl.types import Vector
from lossyfl.wire.codec import decode
from lossyfl.wire.header import HARD_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Direct:
    """Sends Q(x) and forgets the error: the downlink of LTGM, whose Q rotates first."""

    compressor: Compressor

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
        """Raise if vectors of tensors of these lengths cannot be sent."""
        self.compressor.check(tensors, rounds)

    def send(self, x: Vector, state: LinkState, context: SendContext) -> tuple[bytes, LinkState]:
        """Q(x)."""
        return self.compressor.make(x, context)[1], state

    def quantized(self, x: Vector, state: LinkState, context: SendContext) -> Vector:
        """X, or what a rotation makes of it."""
        del state
        first = self.compressor.quantizers[0]
        return first.rotate(x, context.rng) if isinstance(first, Rotated) else x

    def receive(self, frame: bytes, state: LinkState) -> tuple[Vector, LinkState]:
        """Q(x)."""
        return decode(frame, max_entries=HARD_LIMIT), state  # the caller knows the length
