"""Stochastic levels on the Euclidean norm.

Alistarh, Grubic, Li, Tomioka, Vojnovic, "QSGD", NeurIPS 2017:  Q_s(x_i) = ||x||_2 sign(x_i) xi_i(x, s),
where xi_i is |x_i| / ||x||_2 rounded at random to a multiple of 1 / s. Unbiased, with E||Q(x) - x||^2 <=
min(d / s^2, sqrt(d) / s) ||x||^2. The same rounding as the paper's quantizer, on another range.
"""

import math
from dataclasses import dataclass

import numpy as np

from lossyfl.errors import InputError
from lossyfl.quantizers import register
from lossyfl.quantizers.stochastic import check_levels, rounded_at_random
from lossyfl.streams import Stream
from lossyfl.types import Bounds, Quantized, Scale, Vector, check_scale
from lossyfl.wire.vectors import check_finite

LARGEST = float(np.finfo(np.float32).max)


@register("qsgd")
@dataclass(frozen=True, slots=True, kw_only=True)
class Qsgd:
    """Q_s(x) with `levels` = s, and a norm per model, tensor or block."""

    levels: int = 64
    scale: Scale = "model"

    unbiased = True
    errors_grow = False

    def __post_init__(self) -> None:
        check_levels(self.levels, of="Qsgd")
        check_scale(self.scale, of="Qsgd")

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        """The symbols of `x`."""
        check_finite(x)
        squares = np.add.reduceat(np.square(x, dtype=np.float64), bounds[:-1])
        if squares.max() >= LARGEST**2:
            allowed = "small enough for their norm to be a number"
            raise InputError("entries", of="Qsgd", allowed=allowed, got=float(np.abs(x).max()))
        # Rounded upwards, so that no entry is beyond the norm.
        norm = np.nextafter(np.sqrt(squares).astype(np.float32), np.float32(np.inf))
        high = np.where(squares > 0, norm, np.float32(0))
        return rounded_at_random(x, bounds, np.zeros_like(high), high, self.levels, rng, threads)

    def error_bound(self, entries: int) -> float:
        """Min(d / s^2, sqrt(d) / s)."""
        return min(entries / self.levels**2, math.sqrt(entries) / self.levels)

    def nominal_bits(self, entries: int, blocks: int) -> float:
        """32 bits per norm, and a sign and a level per entry: the plain code, before Elias's."""
        return 32 * blocks + entries * (1 + math.log2(self.levels + 1))
