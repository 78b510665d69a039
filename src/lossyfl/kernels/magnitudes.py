"""Bins of magnitudes, which `lossyfl.quantizers.magnitudes` describes."""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.native import native

BINS = 1 << 15

Floats = NDArray[np.float64]


def _scaled(
    x: NDArray[np.float32], start: int, stop: int, bounds: NDArray[np.int64], factors: Floats
) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Factor * x in [start, stop), block by block: in float64, where the product of two float32 is exact."""
    for block, (first, last) in enumerate(pairwise(bounds.tolist())):
        own = slice(max(start, first), min(stop, last))
        if own.start < own.stop:
            with np.errstate(over="ignore"):
                yield own, (x[own].astype(np.float64) * factors[block]).astype(np.float32)


@native("f32[] i i i64[] f64[] i64[]! f64[]! i64[]! -> d")
def bin_magnitudes(
    x: NDArray[np.float32],
    start: int,
    stop: int,
    bounds: NDArray[np.int64],
    factors: Floats,
    counts: NDArray[np.int64],
    sums: Floats,
    used: NDArray[np.int64],
) -> float:
    """Add the entries [start, stop) to counts (not negative, negative) and sums; the sum of their squares.

    used: the first bin that is not empty and the one behind the last, of what was added before, too
    """
    energy = 0.0
    for _, scaled in _scaled(x, start, stop, bounds, factors):
        places = scaled.view(np.uint32) >> np.uint32(16)
        values = np.abs(scaled.astype(np.float64))
        np.add.at(counts, places, 1)
        bins = places & np.uint32(BINS - 1)
        np.add.at(sums, bins, values)
        used[:] = min(int(used[0]), int(bins.min())), max(int(used[1]), int(bins.max()) + 1)
        energy = float(np.add.accumulate(np.append(energy, values * values))[-1])
    return energy


@native("f32[] i i i64[] f64[] s[] s[]! -> i")
def look_up_bins(
    x: NDArray[np.float32],
    start: int,
    stop: int,
    bounds: NDArray[np.int64],
    factors: Floats,
    symbols_of: NDArray[np.uint8 | np.uint16],
    symbols: NDArray[np.uint8 | np.uint16],
) -> int:
    """Write `symbols_of[upper 16 bits of factor * x]` for the entries [start, stop)."""
    for own, scaled in _scaled(x, start, stop, bounds, factors):
        symbols[own] = symbols_of[scaled.view(np.uint32) >> np.uint32(16)]
    return 0


@native("f32[] i64[] f64[]! -> i")
def root_mean_squares(x: NDArray[np.float32], bounds: NDArray[np.int64], out: Floats) -> int:
    """Write the root of the mean square of every block, its squares added one after the other."""
    for block, (start, stop) in enumerate(pairwise(bounds.tolist())):
        squares = np.square(x[start:stop], dtype=np.float64)
        out[block] = np.sqrt(np.add.accumulate(squares)[-1] / len(squares)) if stop > start else 0
    return 0
