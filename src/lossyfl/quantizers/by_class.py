"""Symbols chosen by what they cost in the row and column of their entry, where shapes are known.

A frame codes symbols by class (`lossyfl.wire.classes`): one that takes nine bits in an idle row has to be
worth them. Levels of rows and columns are chosen by a finer quantizer's symbols, which tell busy from idle
better than the few that will be sent; with them the vector is known by class, sign and bin, and cells of all
classes are chosen from that alone (`lossyfl.quantizers.class_cells`).

What will be sent is less than what levels were chosen by: a row whose few symbols are left out should be
told as idle, and in a short frame levels may cost more than they save. So levels are improved for the symbols
that were chosen, and symbols chosen anew for these levels, in turns, as long as that is better. The levels
go on to the frame, for which they need not be chosen again.
"""

from dataclasses import dataclass

import numpy as np

from lossyfl.kernels import parallel
from lossyfl.kernels.checks import fits
from lossyfl.kernels.class_bins import look_up_by_class
from lossyfl.kernels.class_cells import MOST_CELLS
from lossyfl.kernels.levels import Bytes
from lossyfl.kernels.model import entropy
from lossyfl.quantizers import magnitudes
from lossyfl.quantizers.cells import Cells, CellStatistics
from lossyfl.quantizers.class_cells import (
    HALVINGS,
    NEAR_HALVINGS,
    ClassCells,
    ClassStatistics,
    Limit,
    Way,
    ways_from,
)
from lossyfl.quantizers.magnitudes import Magnitudes
from lossyfl.quantizers.targets import Target
from lossyfl.types import Bounds, Codebook, Quantized, Vector
from lossyfl.wire.class_plan import ClassOrder, near, order
from lossyfl.wire.histogram import count
from lossyfl.wire.shapes import Shapes

ZONE = np.array([0.6])
"""Of the finer quantizer."""
MORE_BITS, TIMES_BITS = 0.6, 4.0
"""What it takes: so many bits per entry more, but no more than so many times as many."""
LEAST = 1 / 32
"""Magnitudes below are zero in any case, in smallest ones that would be sent without classes."""
TURNS, PASSES = 2, 2
"""At the most so often levels are improved, in so many passes, and symbols chosen anew."""
SMALL_SIDE = 12
"""Levels that take less than this part of all are improved once."""


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Symbols of a vector, as classes and their cells say."""

    order: ClassOrder
    known: ClassStatistics
    cells: ClassCells

    def symbols(self, x: Vector, threads: int) -> Bytes:
        """What they are."""
        symbols, symbols_of = np.empty(len(x), np.uint8), self.cells.symbols_of().ravel()

        def look_up_strip(strip: tuple[int, int]) -> None:
            own = self.known.classes, self.known.first, self.known.bins, symbols_of, symbols
            fits(look_up_by_class(x, *strip, *own))

        parallel.run(look_up_strip, magnitudes.strips(len(x)), threads)
        return symbols

    def quantized(self, x: Vector, bounds: Bounds, threads: int) -> Quantized:
        """Symbols, their values, and the levels that go on to the frame."""
        levels = self.order.levels
        return Quantized(
            symbols=self.symbols(x, threads),
            bounds=bounds,
            table=self.cells.table(),
            levels=(levels.rows, levels.columns, levels.leans),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _ClassSearch:
    """The search for symbols of a vector.

    known: its bins
    unit:  the smallest magnitude that would be sent without classes
    """

    x: Vector
    bounds: Bounds
    known: Magnitudes
    unit: float
    limit: Limit
    threads: int

    def order(self, shapes: Shapes, bits: float) -> ClassOrder | None:
        """The classes of a finer quantizer's symbols, if they are worth anything."""
        statistics, edges = CellStatistics.of(self.known, 0), np.empty(MOST_CELLS, np.int64)
        one, zone = np.ones(1, np.float32), float(ZONE[0])
        more = min(TIMES_BITS * bits, bits + MORE_BITS * len(self.x))
        step = float(statistics.best_steps(ZONE, True, more, edges)[0, 0])
        cells = Cells.of(self.known, statistics.even(zone, step, edges))
        symbols = magnitudes.look_up(self.x, self.bounds, one, cells.symbols_of(), self.threads)
        return order(symbols, cells.counts(), shapes)

    def chosen(self, order: ClassOrder, ways: list[Way], halvings: int) -> _Chosen | None:
        """The best cells of some classes, if there are any."""
        own = ClassStatistics.of(self.x, order, self.known, self.unit * LEAST)
        cells = own and ClassCells.best(own, ways, self.limit, halvings)
        return None if own is None or cells is None else _Chosen(order, own, cells)

    def improved(self, best: _Chosen) -> _Chosen:
        """Levels by symbols and symbols by levels in turns, as long as that is better."""
        for turn in range(TURNS):
            symbols, alphabet = best.symbols(self.x, self.threads), best.cells.table().alphabet
            nearer = near(symbols, count(symbols, alphabet), best.order.levels, PASSES)
            ways = best.cells.near(both=turn == 0 and best.cells.values_matter)
            made = nearer and self.chosen(nearer, ways, NEAR_HALVINGS)
            if made is None or self.limit.left(made.cells) >= self.limit.left(best.cells):
                break
            best = made
            if best.cells.bits > SMALL_SIDE * best.known.side:
                break
        filled = ClassCells.best(best.known, best.cells.filling(), self.limit)
        if filled is None or self.limit.left(filled) > self.limit.left(best.cells):
            return best
        return _Chosen(best.order, best.known, filled)


def quantize(
    x: Vector, bounds: Bounds, plain: Quantized, shapes: Shapes, wanted: Target, threads: int
) -> Quantized:
    """Better symbols than plain ones by the same target, or these if none are found."""
    assert isinstance(plain.table, Codebook)
    assert plain.counts is not None
    row, zero = plain.table.values[0].astype(np.float64), plain.table.alphabet // 2
    unit, bits, taken = float(row[zero + 1]), wanted.bits_for(len(x)), entropy(plain.counts)
    if unit == 0:
        return plain
    known = magnitudes.measure(x, bounds, np.ones(1, np.float32), threads)
    limit = Limit(bits, (wanted.nmse or 0.0) * known.energy, known.energy)
    left = known.energy - float(np.add.accumulate(plain.counts * row * row)[-1])
    search = _ClassSearch(x=x, bounds=bounds, known=known, unit=unit, limit=limit, threads=threads)
    begun = search.order(shapes, taken if bits is None else bits)
    found = begun and search.chosen(begun, ways_from(unit), HALVINGS)
    found = found and search.improved(found)
    if found is None or limit.left(found.cells) >= (taken if bits is None else left):
        return plain
    return found.quantized(x, bounds, threads)
