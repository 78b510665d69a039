"""Any quantizer behind a random rotation: Q(H D x).

Rotated entries are all of about the same size, so that a quantizer with one scale wastes no range on a
few large ones. The seed of the rotation travels in the frame, and the decoder turns the vector back.
Spelled "rotated+NAME:options".
"""

from dataclasses import dataclass, replace

from lossyfl.errors import InputError
from lossyfl.quantizers.eden import Eden
from lossyfl.rotation import padded_length, rotate
from lossyfl.streams import Stream
from lossyfl.types import Bounds, Quantized, Quantizer, Rotation, Scale, Vector
from lossyfl.vectors import block_bounds, check_finite


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotated:
    """`inner` on the rotated vector; its blocks are blocks of that."""

    inner: Quantizer

    def __post_init__(self) -> None:
        if isinstance(self.inner, Eden | Rotated):
            allowed = "one that does not rotate by itself"
            raise InputError("inner", of="Rotated", allowed=allowed, got=type(self.inner).__name__)
        if self.inner.scale == "tensor":
            allowed = '"model" or a block length: a rotated vector has no tensors'
            raise InputError("scale", of="Rotated", allowed=allowed, got="tensor")

    @property
    def unbiased(self) -> bool:
        """Whether the inner quantizer is: a rotation changes no mean."""
        return self.inner.unbiased

    @property
    def scale(self) -> Scale:
        """The inner quantizer's."""
        return self.inner.scale

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        """The symbols of the rotated vector."""
        del bounds  # of the vector as it is; what matters is the rotated one
        check_finite(x)
        rotated = rotate(x, rng.a)
        blocks = block_bounds(self.scale, len(rotated), None)
        quantized = self.inner.quantize(rotated, blocks, rng=rng, threads=threads)
        return replace(quantized, rotation=Rotation(seed=rng.a, entries=len(x)))

    def error_bound(self, entries: int) -> float | None:
        """That of the inner quantizer for the padded vector: a rotation changes no length."""
        return self.inner.error_bound(padded_length(entries))

    def nominal_bits(self, entries: int, blocks: int) -> float:
        """Those of the inner quantizer for the padded vector."""
        return self.inner.nominal_bits(padded_length(entries), blocks)
