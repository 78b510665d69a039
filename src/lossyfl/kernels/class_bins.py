"""A vector by class, sign and bin of magnitude: the reference of class_bins.c.

A class has two rows of bins, for either sign. The first bin takes all that is below it, the last all above.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.levels import Bytes, Ints
from lossyfl.kernels.logarithms import log2_of
from lossyfl.kernels.magnitudes import BINS
from lossyfl.kernels.native import native

Vector = NDArray[np.float32]
Floats = NDArray[np.float64]
_UNSEEN = 0.3
"""The count that lengths give a symbol without any, so that it may come back."""


def are_rows(rows: int, first: int, bins: int) -> bool:
    """Whether there are rows of `bins` numbers for both signs of every class."""
    return 0 <= first <= BINS and 1 <= bins <= BINS and rows % (2 * bins) == 0


def _places(x: Vector, classes: Bytes, first: int, bins: int) -> Ints:
    """Class, sign and bin of every entry."""
    bits = x.view(np.uint32).astype(np.int64)
    bin_ = np.clip((bits >> 16) % BINS - first, 0, bins - 1)
    return (2 * classes.astype(np.int64) + (bits >> 31)) * bins + bin_


@native("f32[] u8[] i i i64[]! f64[]! -> i")
def bin_by_class(
    x: Vector, classes: Bytes, first: int, bins: int, counts: Ints, sums: Floats
) -> int:
    """Add entries to counts, and their magnitudes to sums; -1 if sizes do not fit."""
    if len(classes) != len(x) or not are_rows(len(counts), first, bins):
        return -1
    if len(sums) != len(counts) or 2 * bins * int(classes.max(initial=0)) >= max(len(counts), 1):
        return -1
    places = _places(x, classes, first, bins)
    np.add.at(counts, places, 1)
    np.add.at(sums, places, np.abs(x.astype(np.float64)))
    return 0


@native("f32[] i i u8[] i i u8[] u8[]! -> i")
def look_up_by_class(
    x: Vector,
    start: int,
    stop: int,
    classes: Bytes,
    first: int,
    bins: int,
    symbols_of: Bytes,
    symbols: Bytes,
) -> int:
    """Write `symbols_of[class, sign, bin]` for the entries [start, stop); -1 if sizes do not fit."""
    if len(classes) != len(x) or len(symbols) != len(x):
        return -1
    if not are_rows(len(symbols_of), first, bins) or not 0 <= start <= stop <= len(x):
        return -1
    own = slice(start, stop)
    if 2 * bins * int(classes[own].max(initial=0)) >= max(len(symbols_of), 1):
        return -1
    symbols[own] = symbols_of[_places(x[own], classes[own], first, bins)]
    return 0


@dataclass(slots=True)
class ClassBins:
    """What `search_by_class` is given: a row of `ahead` and `sums` for every class and sign."""

    first: int
    ahead: Ints
    sums: Floats
    energy: float

    @property
    def bins(self) -> int:
        """How many there are in a row."""
        return self.ahead.shape[1] - 1


@dataclass(slots=True)
class ClassInCells:
    """One class: edges, entries and sums, a row a sign."""

    entries: Floats
    sums: Floats
    size: float
    quiet: float
    edges: Ints

    @classmethod
    def of(cls, of: ClassBins, c: int, edges: Ints) -> "ClassInCells":
        """What lies between edges, a row a sign."""
        own = slice(2 * c, 2 * c + 2)
        entries = np.diff(np.take_along_axis(of.ahead[own], edges, 1)).astype(np.float64)
        sums = np.diff(np.take_along_axis(of.sums[own], edges, 1))
        size = float(of.ahead[2 * c, -1]) + float(of.ahead[2 * c + 1, -1])
        return cls(entries, sums, size, size - float(entries.sum()), edges)

    def silence(self, bins: int) -> None:
        """Make all of it zeros."""
        self.entries[:], self.sums[:], self.edges[:], self.quiet = 0, 0, bins, self.size

    def code(self) -> tuple[Floats, float, int]:
        """The lengths of symbols, a row a sign, the bits of all, and how many differ."""
        counts = np.concatenate([[self.size, self.quiet], self.entries.ravel()])
        logarithms = log2_of(np.where(counts > _UNSEEN, counts, _UNSEEN))
        lengths = logarithms[0] - logarithms[1:]
        bits = add_up(counts[1:] * lengths)
        rows = np.column_stack([lengths[[0, 0]], lengths[1:].reshape(2, -1)])
        return rows, bits, int((counts[1:] > 0).sum())


def add_up(terms: Floats) -> float:
    """The sum of terms, one after the other."""
    return float(np.add.accumulate(terms)[-1]) if len(terms) else 0.0
