"""Powers of two: natural compression.

Horvath, Ho, Horvath, Sahu, Canini, Richtarik, "Natural compression for distributed deep learning", MSML
2022: |x| between 2^e and 2^(e + 1) goes to one of the two at random, so that its mean is x. Unbiased, with
variance at most 1/8, whatever the vector: there is no scale, and blocks mean nothing to it.
"""

from dataclasses import dataclass

import numpy as np

from lossyfl.errors import InputError
from lossyfl.quantizers import register
from lossyfl.streams import Stream
from lossyfl.types import (
    Bounds,
    Codebook,
    Quantized,
    Scale,
    Vector,
    check_scale,
    symbol_type,
)
from lossyfl.vectors import check_finite

LARGEST = 2.0**127


@register("natural")
@dataclass(frozen=True, slots=True, kw_only=True)
class Natural:
    """The nearest powers of two, one of the two at random.

    >>> from lossyfl import decode, encode, stream
    >>> decode(encode(np.float32([1, -0.5, 3, 0] * 100), Natural(), rng=stream(0)))[:2]
    array([ 1. , -0.5], dtype=float32)
    """

    scale: Scale = "model"

    unbiased = True

    def __post_init__(self) -> None:
        check_scale(self.scale, of="Natural")

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        """The symbols of `x`: sign and exponent."""
        del threads, bounds
        check_finite(x)
        magnitude = np.abs(x)
        if magnitude.max() > LARGEST:
            raise InputError("entries", of="Natural", allowed="at most 2^127", got=magnitude.max())
        fraction, exponent = np.frexp(
            magnitude
        )  # magnitude = fraction 2^exponent, 1/2 <= fraction < 1
        u = (rng.bits(0, len(x)) >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
        up = u < 2 * fraction - 1
        power = np.where(magnitude > 0, exponent - 1 + up, _ZERO)
        used = power[power > _ZERO]
        lowest, highest = (int(used.min()), int(used.max())) if len(used) else (0, 0)
        levels = highest - lowest + 1
        level = np.where(power > _ZERO, power - lowest + 1, 0)
        symbols = np.where(x < 0, levels - level, levels + level)
        values = np.ldexp(np.float32(1), np.arange(lowest, highest + 1)).astype(np.float32)
        row = np.concatenate([-values[::-1], np.zeros(1, np.float32), values])
        whole = np.array([0, len(x)], dtype=np.int64)
        narrow = symbols.astype(symbol_type(len(row)))
        return Quantized(symbols=narrow, bounds=whole, table=Codebook(values=row[None]))

    def error_bound(self, entries: int) -> float:
        """1/8."""
        del entries
        return 1 / 8

    def nominal_bits(self, entries: int, blocks: int) -> float:
        """Sign and exponent: nine bits an entry."""
        del blocks
        return 9 * entries


_ZERO = -1000
"""Stands for the exponent of zero."""
