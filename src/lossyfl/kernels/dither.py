"""Subtractive dither: added before rounding, taken off after; `lossyfl.wire.dither` says why."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.native import native
from lossyfl.kernels.random_words import drawn


def noise(a: int, b: int, start: int, stop: int) -> NDArray[np.float32]:
    """What is added to the entries [start, stop), in steps: in [-1/2, 1/2), multiples of 2^-24."""
    bits = drawn(a, b, start, stop) >> np.uint32(8)
    return bits.astype(np.float32) * np.float32(2.0**-24) - np.float32(0.5)


@native("f32[] i i i64[] f32[] i u u s[]! -> i")
def add_dither(
    x: NDArray[np.float32],
    start: int,
    stop: int,
    bounds: NDArray[np.int64],
    steps: NDArray[np.float32],
    levels: int,
    a: int,
    b: int,
    symbols: NDArray[np.uint8 | np.uint16],
) -> int:
    """Write the symbols of the entries [start, stop): round(x / step + u) + levels, in float32."""
    most = np.float32(levels)
    for block, (first, last) in enumerate(pairwise(bounds.tolist())):
        low, high = max(start, first), min(stop, last)
        if low >= high:
            continue
        if not steps[block] > 0:  # a block of zeros has no steps
            symbols[low:high] = levels
            continue
        with np.errstate(over="ignore"):
            place = x[low:high] / steps[block] + noise(a, b, low, high) + np.float32(0.5)
        place = np.where(place > -most, place, -most)
        place = np.where(place < most, place, most)
        symbols[low:high] = np.floor(place).astype(np.int32) + levels
    return 0


@native("f32[]! i64[] f32[] u u -> i")
def take_off_dither(
    x: NDArray[np.float32], bounds: NDArray[np.int64], steps: NDArray[np.float32], a: int, b: int
) -> int:
    """Make it x - step * noise, in two roundings per entry."""
    for block, (start, stop) in enumerate(pairwise(bounds.tolist())):
        x[start:stop] -= steps[block] * noise(a, b, start, stop)
    return 0
