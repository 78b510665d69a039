"""Quantizers that look up an entry's magnitude: one pass to know the vector by its bins, one for the symbols.

Entries of one bin go together, with one exception: where a bin more would be too much for the size that was
asked for and a good part of that is left, a random part of the bin goes. With kept errors the others have
their turn later.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lossyfl.quantizers import magnitudes
from lossyfl.quantizers.cells import Cells, CellStatistics, Edges
from lossyfl.quantizers.magnitudes import BINS
from lossyfl.streams import Stream
from lossyfl.types import Bounds, Codebook, Counts, Quantized, Scaled, Symbols, Vector
from lossyfl.wire.histogram import count, entropy

UNUSED = 0.03
"""The part of a size that may be left over before a part of a bin is taken."""
MORE = 16
"""Bins that are taken, at the most: where each holds little, the choice of cells has used the size."""
HALVINGS = 20
"""To find which part of a bin fits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """Cells whose first bin may be there in part.

    part: how much of it, 1 for all
    """

    edges: Edges
    part: float = 1.0

    def error(self, statistics: CellStatistics) -> float:
        """The sum of squared errors."""
        if self.part == 1:
            return statistics.cost(self.edges)[1]
        place = int(self.edges[0])
        kept = round(self.part * statistics.entries(place, place + 1))
        subsampled = CellStatistics.of(statistics.known.subsampled(place, kept), statistics.spent)
        return subsampled.cost(self.edges)[1]


def quantize(
    x: Vector,
    bounds: Bounds,
    choose: Callable[[CellStatistics], list[Edges]],
    *,
    bits: float | None,
    levels: int,
    rng: Stream,
    threads: int,
) -> Quantized:
    """The symbols of `x` by the best cells.

    choose: the best cells, and others that may be better once they are filled
    bits:   that cells are filled up to, if there is a limit
    levels: the most cells that there may be
    """
    one = len(bounds) == 2
    scales = np.ones(1, np.float32) if one else magnitudes.scales(x, bounds)
    factors = np.float32(1) / scales
    known = magnitudes.measure(x, bounds, factors, threads)
    statistics = CellStatistics.of(known, 0 if one else 32 * len(scales))
    choices = choose(statistics)
    filled = Filled(edges=Cells.of(known, choices[0]).edges)
    if bits is not None:
        filled = _fill_best(statistics, choices, bits, levels)
    cells = Cells(known=known, edges=filled.edges)
    symbols = magnitudes.look_up(x, bounds, factors, cells.symbols_of(), threads)
    counts = cells.counts()
    if filled.part < 1:
        first = magnitudes.look_up(x, bounds, factors, _marks(int(filled.edges[0])), threads) > 0
        dropped = first & (rng.bits(0, len(x)) >= filled.part * 2.0**32)
        zero = len(filled.edges)
        symbols[dropped] = zero
        counts = count(symbols, 2 * zero + 1)
        kept = int(first.sum()) - int(dropped.sum())
        cells = Cells(known=known.subsampled(int(filled.edges[0]), kept), edges=filled.edges)
    row = cells.row()
    table = Codebook(values=row[None]) if one else Scaled(scales=scales, row=row)
    return Quantized(symbols=symbols, bounds=bounds, table=table, counts=counts)


def _fill_best(
    statistics: CellStatistics, choices: list[Edges], bits: float, levels: int
) -> Filled:
    """Of some cells those with the least error, once what they leave of a size is filled."""
    filled: list[Filled] = []
    for each in choices:
        edges = Cells.of(statistics.known, each).edges
        used = statistics.cost(edges)[0] >= (1 - UNUSED) * bits
        filled.append(Filled(edges=edges) if used else fill(statistics, edges, bits, levels))
    return min(filled, key=lambda each: each.error(statistics))


def fill(statistics: CellStatistics, edges: Edges, bits: float, levels: int) -> Filled:
    """The cells with as many of the bins below them as fit, and a part of the next.

    A bin of mean m makes a cell of mean M, and so the vector, more exact if and only if m > M / 2, however
    much of it is taken: the part p of n entries adds (S + p n m)^2 / (N + p n) - S^2 / N to the energy that
    is sent, which is convex in p, and rises from p = 0 on if 2 m > M = S / N. Else it gets a cell of its own.
    """
    known = statistics.known
    used = known.first + np.flatnonzero(known.counts.sum(axis=0))
    below = used[(used > 0) & (used < edges[0])]  # bin 0 is that of zero
    for place in below[::-1][:MORE].tolist():
        stop = int(edges[1]) if len(edges) > 1 else known.stop
        alone = 2 * statistics.mean(place, place + 1) <= statistics.mean(int(edges[0]), stop)
        if alone and len(edges) >= levels:
            break
        wider = np.append(np.int64(place), edges if alone else edges[1:])
        if statistics.cost(wider)[0] > bits:
            before, after = (Cells(known=known, edges=each).counts() for each in (edges, wider))
            if alone:  # its symbols, on both sides of zero, were not there before
                before = np.insert(before, [len(edges), len(edges) + 1], 0)
            beside = statistics.cost(wider)[0] - entropy(after)
            return Filled(edges=wider, part=_part(before, after, bits - beside))
        edges = wider
    return Filled(edges=edges)


def _part(before: Counts, after: Counts, bits: float) -> float:
    """How far to go from some counts to others within so many bits."""
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        part = (low + high) / 2
        between = (before + part * (after - before)).astype(np.int64)
        between[len(between) // 2] += before.sum() - between.sum()  # zeros are the rest
        low, high = (part, high) if entropy(between) <= bits else (low, part)
    return low


def _marks(place: int) -> Symbols:
    """1 for the patterns of a bin, of either sign, 0 for all others."""
    marks = np.zeros(2 * BINS, dtype=np.uint8)
    marks[[place, BINS + place]] = 1
    return marks
