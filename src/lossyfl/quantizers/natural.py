"""Powers of two: natural compression.

Horvath, Ho, Horvath, Sahu, Canini, Richtarik, "Natural compression for distributed deep learning", MSML
2022: |x| between 2^e and 2^(e + 1) goes to one of the two at random, so that its mean is x. Unbiased, with
variance at most 1/8, whatever the vector: there is no scale, and blocks mean nothing to it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import InputError
from lossyfl.kernels import parallel
from lossyfl.kernels.checks import fits
from lossyfl.kernels.natural import NEGATIVE, draw_powers
from lossyfl.quantizers import register
from lossyfl.streams import STRIP, Stream
from lossyfl.types import (
    Bounds,
    Codebook,
    Quantized,
    Scale,
    Vector,
    check_scale,
    symbol_type,
)
from lossyfl.wire import histogram
from lossyfl.wire.vectors import check_finite

LOWEST = -149
"""The exponent of the smallest float32 above 0."""
LARGEST = 2.0**127

Codes = NDArray[np.uint16]


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
    errors_grow = False

    def __post_init__(self) -> None:
        check_scale(self.scale, of="Natural")

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        """The symbols of `x`: sign and exponent."""
        del bounds
        check_finite(x)
        peak = max(float(x.max()), -float(x.min()))
        if peak > LARGEST:
            raise InputError("entries", of="Natural", allowed="at most 2^127", got=peak)
        codes = _drawn(x, rng, threads)
        tally = histogram.Tally(2 * NEGATIVE)
        tally.add(codes)
        seen = tally.counts()
        powers = np.flatnonzero(seen[:NEGATIVE] + seen[NEGATIVE:])
        powers = powers[powers > 0] + LOWEST - 1
        lowest, highest = (int(powers[0]), int(powers[-1])) if len(powers) else (0, 0)
        values = np.ldexp(np.float32(1), np.arange(lowest, highest + 1)).astype(np.float32)
        row = np.concatenate([-values[::-1], np.zeros(1, np.float32), values])
        symbol_of = _symbols(lowest, highest)
        counts = np.bincount(symbol_of, weights=seen, minlength=len(row)).astype(np.int64)
        whole = np.array([0, len(x)], dtype=np.int64)
        symbols = symbol_of.astype(symbol_type(len(row)))[codes]
        table = Codebook(values=row[None])
        return Quantized(symbols=symbols, bounds=whole, table=table, counts=counts)

    def error_bound(self, entries: int) -> float:
        """The variance of an entry halfway between two powers of two, 1/8."""
        del entries
        return 1 / 8

    def nominal_bits(self, entries: int, blocks: int) -> float:
        """Sign and exponent: nine bits per entry."""
        del blocks
        return 9 * entries


def _drawn(x: Vector, rng: Stream, threads: int) -> Codes:
    """For every entry the code of the power of two that was drawn for it."""
    codes = np.empty(len(x), dtype=np.uint16)
    bits = x.view(np.uint32)

    def strip(start: int) -> None:
        stop = min(start + STRIP, len(x))
        fits(draw_powers(bits[start:stop], rng.a, rng.b, start, codes[start:stop]))

    parallel.run(strip, range(0, len(x), STRIP), threads)
    return codes


def _symbols(lowest: int, highest: int) -> NDArray[np.int64]:
    """The symbol of every code, if these are the powers in use; a power never used gets any."""
    levels = highest - lowest + 1
    level = np.clip(np.arange(NEGATIVE) + LOWEST - 1 - lowest + 1, 0, levels)
    level[0] = 0
    return np.concatenate([levels + level, levels - level])
