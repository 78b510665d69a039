"""Symbols chosen by what they cost in the row and column of their entry, where shapes are known.

A frame codes symbols by class (`lossyfl.wire.classes`): one that takes nine bits in an idle row has to be
worth them. Levels of rows and columns are chosen by a finer quantizer's symbols, which tell busy from idle
better than the few that will be sent; with them the vector is known by class, sign and bin, and cells of all
classes are chosen from that alone (`lossyfl.kernels.class_cells`). The levels go on to the frame, for which
they need not be chosen again.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from lossyfl.kernels import parallel
from lossyfl.kernels.checks import fits
from lossyfl.kernels.class_cells import (
    MOST_CELLS,
    bin_by_class,
    look_up_by_class,
    search_by_class,
)
from lossyfl.kernels.levels import Bytes
from lossyfl.kernels.model import entropy
from lossyfl.quantizers import magnitudes
from lossyfl.quantizers.cells import Cells, CellStatistics
from lossyfl.quantizers.magnitudes import EDGES, Floats, Magnitudes
from lossyfl.quantizers.targets import Target
from lossyfl.types import Bounds, Codebook, Counts, Quantized, Vector
from lossyfl.wire.class_plan import ClassOrder, order
from lossyfl.wire.shapes import Shapes

ZONE = np.array([0.6])
"""Of the finer quantizer."""
MORE_BITS, TIMES_BITS = 0.6, (4.0, 1.3)
"""What it takes: so many bits per entry more, but no more than so many times as many."""
SMALL_SIDE = 8
"""Levels that take less than this part of all need no coarser symbols to choose them by."""
STEPS = (0.5, 1.0)
"""To try with any price, in smallest magnitudes that would be sent without classes."""
PRICES = (0.005, 4.0)
"""Of a bit, the lowest and the highest, in squares of that magnitude."""
FACTORS = (0.1, 0.25, 0.6)
"""Prices in squares of the step, to try with any step."""
FREE_STEPS = (0.125, 2.0)
LEAST = 1 / 32
"""Magnitudes below are zero in any case."""
HALVINGS = 7
MOST_BINS = 1 << 21
"""Of all classes together; vectors of very many classes and octaves are left as they are."""
ROOM = 4096


@dataclass(slots=True)
class ClassStatistics:
    """What has to be known of a vector to choose cells by class.

    classes: of every entry, as `ClassOrder.classes_of_entries` says
    ahead:   how many entries lie before each bin, a row for every class and sign
    sums:    of the magnitudes before each
    side:    bits that say which entry is in which class
    """

    first: int
    classes: Bytes
    ahead: Counts
    sums: Floats
    side: float

    @classmethod
    def of(
        cls, x: Vector, made: ClassOrder, known: Magnitudes, least: float
    ) -> "ClassStatistics | None":
        """Those of the bins from a least magnitude on; None if there are too many."""
        first = max(known.first - 1, int(np.searchsorted(EDGES, least)) - 1, 0)
        bins, rows = known.stop - first, 2 * made.classes
        if 2 * rows * bins > MOST_BINS:
            return None
        classes = made.classes_of_entries()
        counts, sums = np.zeros(2 * rows * bins, np.int64), np.zeros(2 * rows * bins)
        fits(bin_by_class(x, classes, first, bins, counts, sums))
        ahead, before = np.zeros((rows, bins + 1), np.int64), np.zeros((rows, bins + 1))
        np.cumsum(_turned(counts.reshape(-1, bins)), axis=1, out=ahead[:, 1:])
        np.cumsum(_turned(sums.reshape(-1, bins)), axis=1, out=before[:, 1:])
        return cls(first, classes, ahead, before, 8.0 * made.levels_nbytes())

    @property
    def bins(self) -> int:
        """How many there are in a row."""
        return self.ahead.shape[1] - 1


@dataclass(slots=True)
class ClassCells:
    """Cells of all classes.

    levels: of every class, sign and bin
    values: of every level; 0 for one out of use
    """

    levels: Bytes
    values: Floats
    bits: float
    error: float

    @classmethod
    def best(
        cls, known: ClassStatistics, unit: float, energy: float, bits: float | None, error: float
    ) -> "ClassCells | None":
        """The least error within so many bits, or the fewest bits within so much error, if there are any.

        unit: about the smallest magnitude to be sent
        """
        rows, bins = len(known.ahead), known.bins
        ways = [
            *((step * unit, 0, *(price * unit * unit for price in PRICES)) for step in STEPS),
            *((0, factor, *(step * unit for step in FREE_STEPS)) for factor in FACTORS),
        ]
        levels, values, found = (
            np.empty(rows * bins, np.uint8),
            np.empty(MOST_CELLS + 1),
            np.empty(2),
        )
        fits(
            search_by_class(
                known.first,
                rows // 2,
                known.ahead.ravel(),
                known.sums.ravel(),
                energy,
                np.array(ways, np.float64).ravel(),
                bits is not None,
                error if bits is None else bits - known.side,
                HALVINGS,
                np.empty(ROOM, np.int64),
                np.empty(rows * (MOST_CELLS + 1)),
                levels,
                values,
                found,
            )
        )
        if not np.isfinite(found).all() or not values.any():
            return None
        return cls(levels.reshape(rows, bins), values, found[0] + known.side, found[1])

    def symbols_of(self) -> Bytes:
        """The symbol for every class, sign and bin, last those of entries that are turned round."""
        used = self.values != 0
        level = np.cumsum(used)[self.levels] * used[self.levels]
        zero = int(used.sum())
        signs = np.where(np.arange(len(level)) % 2, -1, 1)[:, None]
        upright = zero + signs * level
        return np.concatenate([upright, (2 * zero - upright)[::-1]]).astype(np.uint8)

    def row(self) -> Vector:
        """The value of each symbol."""
        narrow = self.values[self.values != 0].astype(np.float32)
        return np.concatenate([-narrow[::-1], np.zeros(1, np.float32), narrow])


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
    error = (wanted.nmse or 0.0) * known.energy
    left = known.energy - float(np.add.accumulate(plain.counts * row * row)[-1])
    best = taken if bits is None else left
    statistics, found = CellStatistics.of(known, 0), None
    for own_order in _orders(
        x, bounds, statistics, shapes, taken if bits is None else bits, threads
    ):
        own = ClassStatistics.of(x, own_order, known, unit * LEAST)
        cells = own and ClassCells.best(own, unit, known.energy, bits, error)
        if own is None or cells is None:
            continue
        left = cells.bits if bits is None else cells.error
        if left < best:
            best, found = left, (own_order, own, cells)
        if cells.bits > SMALL_SIDE * own.side:
            break
    return plain if found is None else _symbols(x, bounds, *found, threads)


def _orders(
    x: Vector,
    bounds: Bounds,
    statistics: CellStatistics,
    shapes: Shapes,
    bits: float,
    threads: int,
) -> Iterator[ClassOrder]:
    """The classes of finer quantizers' symbols, where they are worth anything."""
    known, edges, one = statistics.known, np.empty(MOST_CELLS, np.int64), np.ones(1, np.float32)
    for times in TIMES_BITS:
        more = min(times * bits, bits + MORE_BITS * len(x))
        step = float(statistics.best_steps(ZONE, True, more, edges)[0, 0])
        cells = Cells.of(known, statistics.even(float(ZONE[0]), step, edges))
        symbols = magnitudes.look_up(x, bounds, one, cells.symbols_of(), threads)
        made = order(symbols, cells.counts(), shapes)
        if made is not None:
            yield made


def _symbols(
    x: Vector,
    bounds: Bounds,
    made: ClassOrder,
    known: ClassStatistics,
    cells: ClassCells,
    threads: int,
) -> Quantized:
    """What cells make of a vector."""
    symbols, symbols_of = np.empty(len(x), np.uint8), cells.symbols_of().ravel()

    def look_up_strip(strip: tuple[int, int]) -> None:
        own = known.classes, known.first, known.bins, symbols_of, symbols
        fits(look_up_by_class(x, *strip, *own))

    parallel.run(look_up_strip, magnitudes.strips(len(x)), threads)
    return Quantized(
        symbols=symbols,
        bounds=bounds,
        table=Codebook(values=cells.row()[None]),
        levels=(made.levels.rows, made.levels.columns, made.levels.leans),
    )


def _turned(rows: Floats | Counts) -> Floats | Counts:
    """Rows of both signs of every class; the second half is of entries that are turned round, backwards."""
    half = len(rows) // 2
    return rows[:half] + rows[: half - 1 : -1]
