"""What cells of magnitudes cost, and the search for the best; `lossyfl.quantizers.cells` says what cells are.

A vector is given by its bins, the first of which is `first`: `ahead`, how many entries lie before each, in
a row for those that are not negative and one for those that are; `sums`, of the magnitudes before each;
`energy`, the sum of all squares. Terms are added one after the other: all versions give the same bits.
"""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.logarithms import log2_of
from lossyfl.kernels.native import native, reference

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

LARGEST = float(np.finfo(np.float32).max)
TABLE_BITS = 44
"""About what a symbol more costs: its value, and its count."""


@native("i i64[] f64[] d i64[] f64[]! -> i")
def cost_of_cells(
    first: int, ahead: Integers, sums: Floats, energy: float, edges: Integers, out: Floats
) -> int:
    """Write the bits of symbols and tables, and the sum of squared errors."""
    places = np.append(edges - first, len(sums) - 1)
    if ((places < 0) | (places >= len(sums))).any():
        return -1
    per_sign = np.diff(ahead.reshape(2, -1)[:, places], axis=1).astype(np.float64)
    total = np.float64(ahead.reshape(2, -1)[:, -1].sum())
    entries = per_sign.sum(axis=0)
    value = np.diff(sums[places])
    gained = np.where(entries > 0, value * value / np.maximum(entries, 1), 0.0)
    left = np.append(per_sign.T.ravel(), total - entries.sum())  # zeros come last
    some = np.where(left > 0, left, 1.0)
    taken = np.where(left > 0, some * log2_of(total / some), 0.0)
    used = 1 + 2 * int((entries > 0).sum())
    out[0] = np.add.accumulate(taken)[-1] + TABLE_BITS * used
    out[1] = np.subtract.accumulate(np.append(energy, gained))[-1]
    return 0


@native("d d i i i64[]! -> i")
def even_edges(low: float, step: float, first: int, stop: int, edges: Integers) -> int:
    """Write the bins at which cells begin: at `low` and every step on, each bin once; their number.

    Bin 0 is that of zero, and never kept. Where steps are shorter than bins, steps are left out.
    """
    one = np.empty(1, dtype=np.float32)
    bits = one.view(np.uint32)
    level, levels = np.float64(0), 0
    with np.errstate(all="ignore"):
        while levels < len(edges):
            edge = low + level * step
            if not edge <= LARGEST:
                break
            one[0] = edge
            place = max((int(bits[0]) + 0x8000) >> 16, first, 1)
            if place >= stop:
                break
            edges[levels] = place
            levels += 1
            bits[0] = (place + 1) << 16 & 0xFFFFFFFF
            following = np.ceil((np.float64(one[0]) - low) / step - 0.5)
            level = following if following > level + 1 else level + 1
    return levels


@native("i d d i i64[]! -> i")
def spread_edges(start: int, low: float, peak: float, stop: int, edges: Integers) -> int:
    """Write the bins at which cells begin that part `low`, in bin `start`, to `peak` evenly; their number."""
    if start >= stop:
        return 0
    step = (peak - low) / len(edges)
    return reference(even_edges)(low, step if step > 0 else 1.0, start, stop, edges)


@native("i i64[] f64[] d i64[] f64[] d i64[]! f64[]! -> i")
def costs_of_largest(
    first: int,
    ahead: Integers,
    sums: Floats,
    energy: float,
    starts: Integers,
    lows: Floats,
    peak: float,
    edges: Integers,
    out: Floats,
) -> int:
    """Write bits and squared errors when the bins from each of `starts` on are kept, in even cells."""
    found = np.empty(2)
    for i, (start, low) in enumerate(zip(starts.tolist(), lows.tolist(), strict=True)):
        stop = first + len(sums) - 1
        cells = edges[: reference(spread_edges)(start, low, peak, stop, edges)]
        if reference(cost_of_cells)(first, ahead, sums, energy, cells, found) < 0:
            return -1
        out[:, i] = found
    return 0


@native("i i64[] f64[] d d d f64[] i d i i64[]! f64[]! -> i")
def search_steps(
    first: int,
    ahead: Integers,
    sums: Floats,
    energy: float,
    finest: float,
    peak: float,
    zones: Floats,
    by_size: bool,
    limit: float,
    halvings: int,
    edges: Integers,
    out: Floats,
) -> int:
    """Write the best step for every zone, its bits and its squared error.

    Best is the least error within so many bits, or the fewest bits within so much error. If no step keeps
    to the limit: the coarsest, or the finest for an error, and infinities. The middle of two steps is their
    geometric mean.
    """
    found, stop = np.empty(2), first + len(sums) - 1
    for z, zone in enumerate(zones.tolist()):
        within, beyond = (4 * peak, finest) if by_size else (finest, 4 * peak)
        out[:, z] = within, np.inf, np.inf
        for _ in range(halvings):
            step = float(np.sqrt(within * beyond))
            cells = edges[: reference(even_edges)(zone * step, step, first, stop, edges)]
            if reference(cost_of_cells)(first, ahead, sums, energy, cells, found) < 0:
                return -1
            bits, error = found.tolist()
            if (bits if by_size else error) > limit:
                beyond = step
                continue
            within = step
            if (error < out[2, z]) if by_size else (bits < out[1, z]):
                out[:, z] = step, bits, error
    return 0
