"""Cells of magnitudes for every class of entries: a vector by class, sign and bin, and the best cells for it.

What a class, a sign and a bin go to is found by `lossyfl.kernels.class_cells`, from counts and sums alone.
Values are the same in all classes: the means of what is sent by them, or even, multiples of the first, which
travel as a single number where many values would take a good part of a short frame.
"""

from dataclasses import dataclass

import numpy as np

from lossyfl.kernels.checks import fits
from lossyfl.kernels.class_bins import bin_by_class
from lossyfl.kernels.class_cells import FOUND, MOST_CELLS, NEARLY, search_by_class
from lossyfl.kernels.levels import Bytes
from lossyfl.quantizers.magnitudes import EDGES, Floats, Magnitudes
from lossyfl.types import Codebook, Counts, UniformTable, Vector
from lossyfl.wire.class_plan import ClassOrder

Way = tuple[float, float, float, float, float]
"""To look for cells: `search_by_class`."""

STEP, PRICES = 1.0, (0.005, 4.0)
"""A step to try with any price, in smallest magnitudes that would be sent without classes, and the lowest and
highest price of a bit, in squares of that magnitude."""
FACTORS, FREE_STEPS = (0.1, 0.25, 0.6), (0.125, 2.0)
"""Prices in squares of the step, to try with any step."""
NEAR_FACTORS, NEAR_STEPS = (0.7, 1.3), (0.6, 1.5)
"""The same beside cells that were found, as parts of theirs."""
FILLING = (0.85, 1.02)
"""Steps to try for cells that use all of what is asked for."""
HALVINGS, NEAR_HALVINGS = 7, 5
SMALL_VALUES = 100
"""Values that take less than this part of all need not be even."""
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


@dataclass(frozen=True, slots=True)
class Limit:
    """What is asked for: so many bits, or else so much error, of a vector of some energy."""

    bits: float | None
    error: float
    energy: float

    def left(self, cells: "ClassCells") -> float:
        """What there should be least of; a small part of the limit that is left counts by its price."""
        if self.bits is None:
            unused = self.error - cells.error
            return cells.bits - (unused / cells.price if unused < NEARLY * self.error else 0)
        unused = self.bits - cells.bits
        return cells.error - (cells.price * unused if unused < NEARLY * self.bits else 0)


@dataclass(slots=True)
class ClassCells:
    """Cells of all classes.

    levels: of every class, sign and bin
    values: of every level; 0 for one out of use
    price:  of a bit, in squared errors, by which they were chosen
    even:   whether values are multiples of the first
    """

    levels: Bytes
    values: Floats
    bits: float
    error: float
    step: float
    price: float
    even: bool

    @classmethod
    def best(
        cls, known: ClassStatistics, ways: list[Way], limit: Limit, halvings: int = NEAR_HALVINGS
    ) -> "ClassCells | None":
        """The best within a limit that some ways lead to, if there are any."""
        rows, bins = len(known.ahead), known.bins
        levels, values, found = (
            np.empty(rows * bins, np.uint8),
            np.empty(MOST_CELLS + 1),
            np.empty(FOUND),
        )
        by_size = limit.bits is not None
        fits(
            search_by_class(
                known.first,
                rows // 2,
                known.ahead.ravel(),
                known.sums.ravel(),
                limit.energy,
                np.array(ways, np.float64).ravel(),
                by_size,
                limit.error if limit.bits is None else limit.bits - known.side,
                halvings,
                np.empty(ROOM, np.int64),
                np.empty(rows * (MOST_CELLS + 1)),
                levels,
                values,
                found,
            )
        )
        bits, error, step, price, even = found.tolist()
        if not np.isfinite(found[:2]).all() or not values.any():
            return None
        own = levels.reshape(rows, bins)
        return cls(own, values, bits + known.side, error, step, price, even > 0)

    @property
    def values_matter(self) -> bool:
        """Whether values take a good part of what is sent."""
        return 64 * int(np.count_nonzero(self.values)) * SMALL_VALUES > self.bits

    def near(self, *, both: bool) -> list[Way]:
        """Ways to cells that are like these; or to even ones, too, where it is not known which are better."""
        low, high = (each * self.step for each in NEAR_STEPS)
        factor, kinds = self.price / self.step**2, (False, True) if both else (self.even,)
        return [
            (0.0, factor * each, low, high, float(even)) for even in kinds for each in NEAR_FACTORS
        ]

    def filling(self) -> list[Way]:
        """The way to cells that use what these leave."""
        low, high = (each * self.step for each in FILLING)
        return [(0.0, self.price / self.step**2, low, high, float(self.even))]

    def symbols_of(self) -> Bytes:
        """The symbol for every class, sign and bin, last those of entries that are turned round."""
        used = self.values != 0
        level = np.cumsum(used)[self.levels] * used[self.levels]
        zero = int(used.sum())
        signs = np.where(np.arange(len(level)) % 2, -1, 1)[:, None]
        upright = zero + signs * level
        return np.concatenate([upright, (2 * zero - upright)[::-1]]).astype(np.uint8)

    def table(self) -> Codebook | UniformTable:
        """The value of each symbol."""
        narrow = self.values[self.values != 0].astype(np.float32)
        zero = np.zeros(1, np.float32)
        if self.even:
            return UniformTable(low=zero, high=narrow[-1:], alphabet=2 * len(narrow) + 1)
        return Codebook(values=np.concatenate([-narrow[::-1], zero, narrow])[None])


def ways_from(unit: float) -> list[Way]:
    """Ways to begin with.

    unit: about the smallest magnitude to be sent
    """
    low, high = (each * unit for each in FREE_STEPS)
    least, most = (each * unit * unit for each in PRICES)
    return [
        (STEP * unit, 0.0, least, most, 0.0),
        *((0.0, each, low, high, 0.0) for each in FACTORS),
    ]


def _turned(rows: Floats | Counts) -> Floats | Counts:
    """Rows of both signs of every class; the second half is of entries that are turned round, backwards."""
    half = len(rows) // 2
    return rows[:half] + rows[: half - 1 : -1]
