"""Cells of magnitudes, chosen by what symbols cost in the class of an entry: the reference of class_cells.c.

A vector is given by class, sign and bin: a class has two rows, and rows say how many entries, and which sum
of magnitudes, lie before each bin. The first bin takes all that is below it, and is never kept. All classes
have the same values; what differs is which magnitudes go to which of them. In turn, a few times:

- of every class and symbol the bits it takes, by how often it occurs there
- of every class and sign the bins at which levels begin: value^2 - 2 x value + price * bits is a line in x
  for every level, and the lowest of all lines is the cheapest level (Chou, Lookabaugh and Gray,
  "Entropy-constrained vector quantization", IEEE Trans. Acoustics, Speech, and Signal Processing, 1989)
- a class whose symbols together are not worth their bits is all zeros; symbols one by one would never bring
  that about, for where zeros are rare they are dear
- values are the means of what is sent by them

Terms are added one after the other: all versions give the same bits.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.cells import LARGEST, even_edges
from lossyfl.kernels.class_tables import CLASS_BITS, SYMBOL_BITS
from lossyfl.kernels.levels import KEYS, Bytes, Ints
from lossyfl.kernels.logarithms import log2_of
from lossyfl.kernels.magnitudes import BINS
from lossyfl.kernels.native import native, reference

MOST_CELLS = 127
WAY = 4
"""Numbers of a way to look for cells."""
_ROUNDS, _VALUE_BITS, _UNSEEN, _FIRST_ZONE = 4, 32, 0.3, 0.6

Vector = NDArray[np.float32]
Floats = NDArray[np.float64]
Edges = list[int]


def _are_rows(rows: int, first: int, bins: int) -> bool:
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
    if len(classes) != len(x) or not _are_rows(len(counts), first, bins):
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
    if not _are_rows(len(symbols_of), first, bins) or not 0 <= start <= stop <= len(x):
        return -1
    own = slice(start, stop)
    if 2 * bins * int(classes[own].max(initial=0)) >= max(len(symbols_of), 1):
        return -1
    symbols[own] = symbols_of[_places(x[own], classes[own], first, bins)]
    return 0


@dataclass(slots=True)
class _ClassBins:
    """What `search_by_class` is given: a row of `ahead` and `sums` for every class and sign."""

    first: int
    ahead: Ints
    sums: Floats
    energy: float

    @property
    def bins(self) -> int:
        return self.ahead.shape[1] - 1


@dataclass(slots=True)
class _OneClass:
    """One class: edges, entries and sums, a row a sign."""

    entries: Floats
    sums: Floats
    size: float
    quiet: float
    edges: Ints

    @classmethod
    def of(cls, of: _ClassBins, c: int, edges: Ints) -> "_OneClass":
        own = slice(2 * c, 2 * c + 2)
        entries = np.diff(np.take_along_axis(of.ahead[own], edges, 1)).astype(np.float64)
        sums = np.diff(np.take_along_axis(of.sums[own], edges, 1))
        size = float(of.ahead[2 * c, -1]) + float(of.ahead[2 * c + 1, -1])
        return cls(entries, sums, size, size - float(entries.sum()), edges)

    def silence(self, bins: int) -> None:
        self.entries[:], self.sums[:], self.edges[:], self.quiet = 0, 0, bins, self.size

    def code(self) -> tuple[Floats, float, int]:
        """The lengths of symbols, a row a sign, the bits of all, and how many differ."""
        counts = np.concatenate([[self.size, self.quiet], self.entries.ravel()])
        logarithms = log2_of(np.where(counts > _UNSEEN, counts, _UNSEEN))
        lengths = logarithms[0] - logarithms[1:]
        bits = _sum(counts[1:] * lengths)
        rows = np.column_stack([lengths[[0, 0]], lengths[1:].reshape(2, -1)])
        return rows, bits, int((counts[1:] > 0).sum())


def _sum(terms: Floats) -> float:
    return float(np.add.accumulate(terms)[-1]) if len(terms) else 0.0


def _nearest_edge(x: float, of: _ClassBins) -> int:
    if not x <= LARGEST:
        return of.bins
    bits = int(np.array([x if x > 0 else 0], np.float32).view(np.uint32)[0])
    return min(max(((bits + 0x8000) >> 16) - of.first, 1), of.bins)


class _CellSearch:
    """Cells under way: the values of levels from 1 on, those in use, and lengths of all classes."""

    def __init__(self, of: _ClassBins, room: Ints) -> None:
        self.of, self.room = of, room
        self.values, self.used, self.lengths = np.zeros(1), np.zeros(1, np.bool_), list[Floats]()

    def begin_evenly(self, step: float) -> Ints | None:
        """Even cells without those that are empty; None if there are too many."""
        of = self.of
        span = of.first + 1, of.first + of.bins
        found = reference(even_edges)(_FIRST_ZONE * step, step, *span, self.room)
        places = np.append(self.room[:found] - of.first, of.bins)
        some = (np.diff(of.ahead[:, places], axis=1) != 0).any(axis=0)
        edges = np.append(places[:-1][some], of.bins)
        if len(edges) - 1 > MOST_CELLS:
            return None
        self.values, self.used = np.zeros(len(edges)), np.zeros(len(edges), np.bool_)
        return edges

    def _place(self, lengths: list[float], price: float) -> Edges:
        """Where the cheapest level changes."""
        values = self.values.tolist()
        stack, begins = [0], [0.0]
        for level in np.flatnonzero(self.used).tolist():
            value = values[level]
            if not value > values[stack[-1]]:
                continue
            while True:
                other = values[stack[-1]]
                dearer = price * (lengths[level] - lengths[stack[-1]])
                begin = (value * value - other * other + dearer) / (2 * (value - other))
                if len(stack) == 1 or not begin <= begins[-1]:
                    break
                del stack[-1], begins[-1]
            stack.append(level)
            begins.append(begin)
        edges, following = [self.of.bins] * (len(values)), self.of.bins
        for level in range(len(values) - 1, 0, -1):
            if stack[-1] == level:
                stack.pop()
                following = min(_nearest_edge(begins.pop(), self.of), following)
            edges[level - 1] = following
        return edges

    def _count(self, c: int, edges: Ints, price: float) -> tuple[_OneClass, float, int]:
        """A class as its edges say, or as zeros; its bits, and how many symbols differ."""
        one = _OneClass.of(self.of, c, edges)
        lengths, bits, different = one.code()
        values = self.values[1:]
        gain = _sum((values * (2 * one.sums - values * one.entries)).ravel())
        if price > 0 and gain < price * (bits + float(SYMBOL_BITS * different)):
            one.silence(self.of.bins)
            lengths, bits, different = one.code()
        self.lengths[c] = lengths
        return one, bits, different

    def cells_at(self, step: float, price: float, levels: Bytes | None = None) -> Floats:
        """Bits and errors of the cells that a step and a price lead to."""
        of, classes = self.of, len(self.of.ahead) // 2
        even = self.begin_evenly(step)
        if even is None:
            return np.full(2, np.inf)
        self.lengths = [np.zeros((2, len(even)))] * classes
        bits, pairs, entries, sums = 0.0, 0, np.zeros(0), np.zeros(0)
        for turn in range(_ROUNDS + 1):
            bits, pairs = 0.0, 0
            entries, sums = np.zeros(len(even) - 1), np.zeros(len(even) - 1)
            for c in range(classes):
                rows = [self._place(own, price) for own in self.lengths[c].tolist()] if turn else []
                edges = np.array(rows) if turn else np.stack([even, even])
                one, taken, different = self._count(c, edges, price if turn else 0.0)
                bits, pairs = bits + taken, pairs + different
                for sign in range(2):
                    entries, sums = entries + one.entries[sign], sums + one.sums[sign]
                    if levels is not None and turn == _ROUNDS:
                        widths = np.diff(one.edges[sign], prepend=0)
                        own = np.repeat(np.arange(len(widths)), widths)
                        levels[(2 * c + sign) * of.bins :][: of.bins] = own
            self.used[1:] = entries > 0
            np.divide(sums, entries, out=self.values[1:], where=self.used[1:])
        used = self.used[1:]
        gained = sums[used] * sums[used] / entries[used]
        error = float(np.subtract.accumulate(np.append(of.energy, gained))[-1])
        values = _VALUE_BITS * (1 + 2 * int(used.sum()))
        return np.array([bits + float(values + CLASS_BITS * classes + SYMBOL_BITS * pairs), error])

    def best(
        self, ways: Floats, by_size: bool, limit: float, halvings: int, out: Floats
    ) -> tuple[float, float] | None:
        """The step and the price of the best cells, if there are any; their bits and error go to `out`."""
        best: tuple[float, float] | None = None
        asked, left = (0, 1) if by_size else (1, 0)
        out[:] = np.inf
        for given, factor, low, high in ways.reshape(-1, WAY).tolist():
            within, beyond = (high, low) if by_size else (low, high)
            for _ in range(halvings):
                middle = float(np.sqrt(within * beyond))
                step = given if given > 0 else middle
                price = middle if given > 0 else factor * middle * middle
                found = self.cells_at(step, price)
                if not found[asked] <= limit:
                    beyond = middle
                    continue
                within = middle
                if found[left] < out[left]:
                    out[:], best = found, (step, price)
        return best


@native("i i i64[] f64[] d f64[] i d i i64[]! f64[]! u8[]! f64[]! f64[]! -> i")
def search_by_class(
    first: int,
    classes: int,
    ahead: Ints,
    sums: Floats,
    energy: float,
    ways: Floats,
    by_size: bool,
    limit: float,
    halvings: int,
    room: Ints,
    lengths: Floats,
    levels: Bytes,
    values: Floats,
    out: Floats,
) -> int:
    """Write the best of all cells that some ways lead to; -1 if sizes do not fit.

    Best is the least error within so many bits, or the fewest bits within so much error.

    ways:    four numbers each: a step or 0, a factor, and the lowest and highest to try of what is free. That
             is the price; or the step where there is none, and then the price is factor * step^2
    room:    for even cells to begin with; lengths: for those of all classes
    levels:  of every class, sign and bin
    values:  of every level; 0 for one out of use
    out:     bits of symbols and tables, and the sum of squared errors; infinities if none keeps to the limit
    """
    if not 1 <= classes <= KEYS or len(sums) != len(ahead) or len(ahead) % (2 * classes):
        return -1
    bins = len(ahead) // (2 * classes) - 1
    if not 1 <= bins <= BINS or len(levels) != 2 * classes * bins or len(ways) % WAY:
        return -1
    if not _are_rows(len(levels), first, bins) or len(out) != 2:
        return -1
    if [len(lengths), len(values)] != [2 * classes * (MOST_CELLS + 1), MOST_CELLS + 1]:
        return -1
    shape = 2 * classes, bins + 1
    search = _CellSearch(_ClassBins(first, ahead.reshape(shape), sums.reshape(shape), energy), room)
    best = search.best(ways, by_size, limit, halvings, out)
    levels[:], values[:], lengths[:] = 0, 0, 0
    if best is not None:
        search.cells_at(*best, levels)
        values[: len(search.values)] = np.where(search.used, search.values, 0)
    return 0
