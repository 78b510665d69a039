"""Any quantizer behind a random rotation: Q(H D x).

Rotated entries are all of about the same size, so that a quantizer with one scale wastes no range on a
few large ones. The seed of the rotation travels in the frame, and the decoder turns the vector back.
Spelled "rotated+NAME:options".

    signs=fresh   new random signs in every frame
    signs=fixed   the same random signs in all frames
    signs=none    the plain Walsh-Hadamard transform
"""

from dataclasses import dataclass, replace
from typing import Literal, get_args

from lossyfl.errors import InputError, one_of
from lossyfl.quantizers.eden import Eden
from lossyfl.quantizers.targets import Target, adjustable
from lossyfl.streams import Stream
from lossyfl.types import Bounds, Quantized, Quantizer, Rotation, Scale, Vector
from lossyfl.wire.rotation import padded_length, rotate
from lossyfl.wire.vectors import block_bounds, check_finite

Signs = Literal["fresh", "fixed", "none"]
FIXED = 0
"""The seed of the signs that are the same in all frames."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotated:
    """`inner` on the rotated vector; its blocks are blocks of that."""

    inner: Quantizer
    signs: Signs = "fresh"

    def __post_init__(self) -> None:
        if self.signs not in get_args(Signs):
            allowed = one_of(get_args(Signs), str(self.signs))
            raise InputError("signs", of="a rotation", allowed=allowed, got=self.signs)
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
    def errors_grow(self) -> bool:
        """Whether those of the inner quantizer do: a rotation changes no length."""
        return self.inner.errors_grow

    @property
    def scale(self) -> Scale:
        """The inner quantizer's."""
        return self.inner.scale

    def with_target(self, target: Target) -> "Rotated":
        """The same for another target of the inner quantizer; raises if that has none."""
        return replace(self, inner=adjustable(self.inner).with_target(target))

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        """The symbols of the rotated vector."""
        del bounds  # of the vector as it is; what matters is the rotated one
        check_finite(x)
        rotated = self.rotate(x, rng)
        blocks = block_bounds(self.scale, len(rotated), None)
        quantized = self.inner.quantize(rotated, blocks, rng=rng, threads=threads)
        rotation = Rotation(seed=self._seed(rng), entries=len(x))
        return replace(quantized, rotation=rotation, source=rotated)

    def rotate(self, x: Vector, rng: Stream) -> Vector:
        """What the inner quantizer is given."""
        return rotate(x, self._seed(rng))

    def _seed(self, rng: Stream) -> int | None:
        return {"fresh": rng.a, "fixed": FIXED, "none": None}[self.signs]

    def error_bound(self, entries: int) -> float | None:
        """That of the inner quantizer for the padded vector: a rotation changes no length."""
        return self.inner.error_bound(padded_length(entries))

    def nominal_bits(self, entries: int, blocks: int) -> float:
        """Those of the inner quantizer for the padded vector."""
        return self.inner.nominal_bits(padded_length(entries), blocks)
