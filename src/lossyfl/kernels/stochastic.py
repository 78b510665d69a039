"""The stochastic quantizer: ranges of magnitudes, and levels drawn at random."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.native import native
from lossyfl.kernels.random_words import drawn

MAGNITUDE = 0x7FFFFFFF
"""All bits of a float32 but its sign."""


@native("u32[] i64[] u32[]! u32[]! -> i")
def magnitude_ranges(
    x: NDArray[np.uint32],
    bounds: NDArray[np.int64],
    low: NDArray[np.uint32],
    high: NDArray[np.uint32],
) -> int:
    """Write the range of |x| of every block, all as bits: magnitudes order as their bit patterns do."""
    magnitudes = x & np.uint32(MAGNITUDE)
    for block, (start, stop) in enumerate(pairwise(bounds.tolist())):
        low[block] = magnitudes[start:stop].min(initial=MAGNITUDE)
        high[block] = magnitudes[start:stop].max(initial=0)
    return 0


@native("f32[] i64[] f32[] f32[] i i u u s[]! -> i")
def draw_levels(
    x: NDArray[np.float32],
    bounds: NDArray[np.int64],
    low: NDArray[np.float32],
    high: NDArray[np.float32],
    q: int,
    twin: int,
    a: int,
    b: int,
    symbols: NDArray[np.uint8 | np.uint16],
) -> int:
    """Write the symbols of the blocks of `bounds`, whose magnitudes are in [low, high], of levels up to q.

    `twin` is 1 where level 0 has two symbols, else 0.
    """
    most = np.float32(q)
    for block, (start, stop) in enumerate(pairwise(bounds.tolist())):
        own, top = x[start:stop], high[block]
        shift, base, inverse = _step(low[block], top, most)
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
    return 0


def _step(
    low: np.float32, high: np.float32, q: np.float32
) -> tuple[np.float32, np.float32, np.float32]:
    """A power of two s near 1 / high, low s, and q / (high s - low s)."""
    shift = np.ldexp(np.float32(1), np.clip(-np.frexp(high)[1], -126, 126))
    base = low * shift
    spread = high * shift - base
    return shift, base, q / spread if spread != 0 else np.float32(0)
