"""Stochastic rounding to multiples of a power of two: the paper's quantizer where updates are to be merged.

Q(x, q) of `lossyfl.quantizers.stochastic` has q levels between the smallest and the largest magnitude, which
are others in every round. Here levels are 0, s, 2 s, ..., with s the power of two that is nearest to the
largest magnitude over q, and as many as it takes to reach that. A magnitude goes to one of its two neighbours
at random, so that the mean is right. Steps are as long as those of Q(x, q) in the mean over many rounds;
there is no sign of zeros, which is half of what Q(x, 2) sends.
"""

from dataclasses import dataclass

import numpy as np

from lossyfl.errors import InputError
from lossyfl.quantizers import register
from lossyfl.quantizers.stochastic import check_levels, rounded_at_random
from lossyfl.streams import Stream
from lossyfl.types import Bounds, Quantized, Scale, Vector, check_scale, paper_bits
from lossyfl.wire.vectors import check_finite

LARGEST = float(np.finfo(np.float32).max)
SMALLEST = 2.0**-149
"""The smallest float32 above 0."""


@register("dyadic")
@dataclass(frozen=True, slots=True, kw_only=True)
class Dyadic:
    """About `levels` = q multiples of a power of two, one for the model, each tensor or each block.

    >>> from lossyfl import decode, encode, stream
    >>> x = np.float32([0.0, -1.0, 1.5, 2.0])
    >>> decode(encode(x, Dyadic(levels=4), rng=stream(0)))
    array([ 0. , -1. ,  1.5,  2. ], dtype=float32)
    """

    levels: int = 2
    scale: Scale = "model"

    unbiased = True

    def __post_init__(self) -> None:
        check_levels(self.levels, of="Dyadic")
        check_scale(self.scale, of="Dyadic")

    @property
    def errors_grow(self) -> bool:
        """With one level, as with one of Q's: the step is about as long as the largest entry is large."""
        return self.levels == 1

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        """The symbols of `x`."""
        check_finite(x)
        peaks = np.maximum.reduceat(np.abs(x), bounds[:-1]).astype(np.float64)
        _, exponent = np.frexp(peaks / self.levels * 4 / 3)
        steps = np.maximum(np.ldexp(1.0, exponent - 1), SMALLEST)  # 3/4 s <= peak / q < 3/2 s
        levels = max(int(np.ceil(peaks / steps).max()), 1)
        high = np.where(peaks > 0, steps * levels, 0.0)
        if high.max() > LARGEST:
            allowed = "small enough for multiples of a power of two"
            raise InputError("entries", of="Dyadic", allowed=allowed, got=float(peaks.max()))
        wide = high.astype(np.float32)
        return rounded_at_random(x, bounds, np.zeros_like(wide), wide, levels, rng, threads)

    def error_bound(self, entries: int) -> float:
        """4 d / (9 q^2): no step is longer than 4/3 of those of Q(x, q)."""
        return 4 * entries / (9 * self.levels**2)

    def nominal_bits(self, entries: int, blocks: int) -> float:
        """That of Q(x, q): R_Q, with 64 bits for every block."""
        return paper_bits(entries, blocks, self.levels)
