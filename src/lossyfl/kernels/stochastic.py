"""The stochastic quantizer: ranges of magnitudes, and levels drawn at random. The reference of stochastic.c.

Magnitudes order as their bit patterns do, so ranges are bits of float32: with the sign left out.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.native import native, reference
from lossyfl.kernels.random_words import drawn

MAGNITUDE = 0x7FFFFFFF
"""All bits of a float32 but its sign."""
INFINITY_BITS = 0x7F800000
NOT_FINITE = -2

Bits = NDArray[np.uint32]
Bounds = NDArray[np.int64]
Symbols = NDArray[np.uint8 | np.uint16]


def tallies(alphabet: int, threads: int) -> tuple[NDArray[np.int64], Bits]:
    """Room for the counts of so many symbols, and for what threads count with."""
    lanes = 4 * alphabet * threads if alphabet > 256 else 0
    return np.empty(alphabet * threads, dtype=np.int64), np.empty(lanes, dtype=np.uint32)


@native("f32[] i64[] i u u i u32[]! u32[]! s[]! i64[]! u32[]! -> i")
def quantize_levels(
    x: NDArray[np.float32],
    bounds: Bounds,
    q: int,
    a: int,
    b: int,
    threads: int,
    low: Bits,
    high: Bits,
    symbols: Symbols,
    counts: NDArray[np.int64],
    lanes: Bits,
) -> int:
    """Write the range of |x| of every block, then what `draw_levels` writes.

    Returns the size of the alphabet, 2q + 1 or, where a block has no zero, 2q + 2; -2 if an entry is NaN or
    infinity.
    """
    magnitudes = x.view(np.uint32) & np.uint32(MAGNITUDE)
    for block, (start, stop) in enumerate(pairwise(bounds.tolist())):
        low[block] = magnitudes[start:stop].min(initial=MAGNITUDE)
        high[block] = magnitudes[start:stop].max(initial=0)
    if high.max(initial=0) >= INFINITY_BITS:
        return NOT_FINITE
    twin = int(low.any())
    reference(draw_levels)(x, bounds, low, high, q, twin, a, b, threads, symbols, counts, lanes)
    return 2 * q + 1 + twin


@native("f32[] i64[] u32[] u32[] i i u u i s[]! i64[]! u32[]! -> i")
def draw_levels(
    x: NDArray[np.float32],
    bounds: Bounds,
    low: Bits,
    high: Bits,
    q: int,
    twin: int,
    a: int,
    b: int,
    threads: int,
    symbols: Symbols,
    counts: NDArray[np.int64],
    lanes: Bits,
) -> int:
    """Write the symbols of the blocks of `bounds`, whose magnitudes are in [low, high], of levels up to q.

    twin:   1 where level 0 has two symbols, else 0
    counts: how often each symbol occurs; of as many symbols as fit in for every thread, the first thread's
    lanes:  room for four counters of each, which the library needs for uint16
    """
    del lanes
    most = np.float32(q)
    lows, highs = low.view(np.float32), high.view(np.float32)
    for block, (start, stop) in enumerate(pairwise(bounds.tolist())):
        own, top = x[start:stop], highs[block]
        shift, base, inverse = _step(lows[block], top, most)
        magnitude = np.abs(own)
        y = (magnitude * shift - base) * inverse
        y = np.where(y > 0, y, np.float32(0))
        y = np.where(y < most, y, most)
        y = np.where((magnitude >= top) & (inverse > 0), most, y)
        level = y.astype(np.int32)
        u = (drawn(a, b, start, stop) >> np.uint32(8)).astype(np.float32)
        level += u < (y - level.astype(np.float32)) * np.float32(2**24)
        below = (own < 0) & ((level > 0) | (twin == 0) | (base != 0))
        symbols[start:stop] = np.where(below, q - level, q + twin + level)
    counts.fill(0)
    width = len(counts) // threads
    counts[:width] = np.bincount(symbols[bounds[0] : bounds[-1]], minlength=width)
    return 0


def _step(
    low: np.float32, high: np.float32, q: np.float32
) -> tuple[np.float32, np.float32, np.float32]:
    """A power of two s near 1 / high, low s, and q / (high s - low s)."""
    shift = np.ldexp(np.float32(1), np.clip(-np.frexp(high)[1], -126, 126))
    base = low * shift
    spread = high * shift - base
    return shift, base, q / spread if spread != 0 else np.float32(0)
