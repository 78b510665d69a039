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
- values are the means of what is sent by them; or even, the multiples of a unit that leave least, which
  travel as one number

Terms are added one after the other: all versions give the same bits.
"""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.cells import LARGEST, even_edges
from lossyfl.kernels.class_bins import ClassBins, ClassInCells, add_up, are_rows
from lossyfl.kernels.class_tables import CLASS_BITS, SYMBOL_BITS
from lossyfl.kernels.levels import KEYS, Bytes, Ints
from lossyfl.kernels.magnitudes import BINS
from lossyfl.kernels.native import native, reference

MOST_CELLS = 127
WAY, FOUND = 5, 5
"""Numbers of a way to look for cells, and of what was found."""
NEARLY = 0.02
"""What is left of a limit, as a part of it, may be used by cells that are like these."""
_ROUNDS, _VALUE_BITS, _FIRST_ZONE = 4, 32, 0.6

Floats = NDArray[np.float64]
Edges = list[int]


def _nearest_edge(x: float, of: ClassBins) -> int:
    if not x <= LARGEST:
        return of.bins
    bits = int(np.array([x if x > 0 else 0], np.float32).view(np.uint32)[0])
    return min(max(((bits + 0x8000) >> 16) - of.first, 1), of.bins)


class _CellSearch:
    """Cells under way: the values of levels from 1 on, those in use, and lengths of all classes."""

    def __init__(self, of: ClassBins, room: Ints) -> None:
        self.of, self.room, self.even = of, room, False
        self.values, self.used, self.lengths = np.zeros(1), np.zeros(1, np.bool_), list[Floats]()

    def _begin_at(self, edges: Edges, wider: int) -> Edges | None:
        """Even cells without those that are empty, from `wider` on ever wider; None if too many."""
        made, width, i = list[int](), 1, 0
        while i < len(edges):
            if len(made) >= wider and (len(made) - wider) % 16 == 0:
                width *= 2
            low, high = edges[i], edges[i + width] if i + width < len(edges) else self.of.bins
            i += width
            if (self.of.ahead[:, high] == self.of.ahead[:, low]).all():
                continue
            if len(made) == MOST_CELLS:
                return None
            made.append(low)
        return made

    def _begin_evenly(self, step: float) -> Edges | None:
        """Even cells; where there are too many, those of large magnitudes are wider."""
        of = self.of
        span = of.first + 1, of.first + of.bins
        found = reference(even_edges)(_FIRST_ZONE * step, step, *span, self.room)
        places = (self.room[:found] - of.first).tolist()
        for wider in range(MOST_CELLS, MOST_CELLS // 2 - 16, -16):
            made = self._begin_at(places, wider)
            if made is not None:
                return made
        return None

    def _begin_with_all(self, step: float) -> Edges | None:
        """Even cells, empty ones among them."""
        made: Edges = []
        place = _FIRST_ZONE
        while (edge := _nearest_edge(place * step, self.of)) < self.of.bins:
            if len(made) == MOST_CELLS:
                return None
            made.append(edge)
            place += 1
        return made

    def begin(self, step: float, even: bool) -> Ints | None:
        """The cells to begin with, the same in all classes; None if there are too many."""
        made = self._begin_with_all(step) if even else self._begin_evenly(step)
        if made is None:
            return None
        self.even = even
        self.values, self.used = np.zeros(len(made) + 1), np.zeros(len(made) + 1, np.bool_)
        return np.array([*made, self.of.bins], np.int64)

    def _learn_values(self, entries: Floats, sums: Floats) -> None:
        """Values are the means of what levels hold, or the multiples that leave least of it."""
        if not self.even:
            self.used[1:] = entries > 0
            np.divide(sums, entries, out=self.values[1:], where=self.used[1:])
            return
        level = np.arange(1, len(entries) + 1, dtype=np.float64)
        last = int(np.flatnonzero(entries > 0)[-1]) + 1 if (entries > 0).any() else 0
        unit = add_up(level * sums) / add_up(level * level * entries) if last else 0.0
        self.values, self.used = (
            np.append(0.0, level * unit)[: last + 1],
            np.ones(last + 1, np.bool_),
        )

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

    def _count(self, c: int, edges: Ints, price: float) -> tuple[ClassInCells, float, int]:
        """A class as its edges say, or as zeros; its bits, and how many symbols differ."""
        one = ClassInCells.of(self.of, c, edges)
        lengths, bits, different = one.code()
        values = self.values[1:]
        gain = add_up((values * (2 * one.sums - values * one.entries)).ravel())
        if price > 0 and gain < price * (bits + float(SYMBOL_BITS * different)):
            one.silence(self.of.bins)
            lengths, bits, different = one.code()
        self.lengths[c] = lengths
        return one, bits, different

    def cells_at(
        self, step: float, price: float, even: bool, levels: Bytes | None = None
    ) -> Floats:
        """Bits and errors of the cells that a step and a price lead to."""
        of, classes = self.of, len(self.of.ahead) // 2
        begun = self.begin(step, even)
        if begun is None:
            return np.full(2, np.inf)
        self.lengths = [np.zeros((2, len(begun)))] * classes
        bits, pairs, entries, sums = 0.0, 0, np.zeros(0), np.zeros(0)
        for turn in range(_ROUNDS + 1):
            bits, pairs = 0.0, 0
            cells = len(self.values) - 1
            entries, sums = np.zeros(cells), np.zeros(cells)
            for c in range(classes):
                rows = [self._place(own, price) for own in self.lengths[c].tolist()] if turn else []
                edges = np.array(rows) if turn else np.stack([begun, begun])
                one, taken, different = self._count(c, edges, price if turn else 0.0)
                bits, pairs = bits + taken, pairs + different
                for sign in range(2):
                    entries, sums = entries + one.entries[sign], sums + one.sums[sign]
                    if levels is not None and turn == _ROUNDS:
                        widths = np.diff(one.edges[sign], prepend=0)
                        own = np.repeat(np.arange(len(widths)), widths)
                        levels[(2 * c + sign) * of.bins :][: of.bins] = own
            self._learn_values(entries, sums)
        return self._found(entries, sums, bits, pairs)

    def _found(self, entries: Floats, sums: Floats, bits: float, pairs: int) -> Floats:
        """Bits of symbols and tables, and the sum of squared errors."""
        used = self.used[1:]
        values, cells = self.values[1:][used], np.flatnonzero(used)
        gained = values * (2 * sums[cells] - values * entries[cells])
        error = float(np.subtract.accumulate(np.append(self.of.energy, gained))[-1])
        table = _VALUE_BITS * (1 if self.even else 1 + 2 * len(values))
        table += CLASS_BITS * (len(self.of.ahead) // 2) + SYMBOL_BITS * pairs
        return np.array([bits + float(table), error])

    def best(
        self, ways: Floats, by_size: bool, limit: float, halvings: int, out: Floats
    ) -> tuple[float, float, bool] | None:
        """Step, price and kind of the best cells, if there are any; what they are goes to `out`."""
        best: tuple[float, float, bool] | None = None
        asked, left = (0, 1) if by_size else (1, 0)
        out[:], least = [np.inf, np.inf, 0, 0, 0], np.inf
        for given, factor, low, high, kind in ways.reshape(-1, WAY).tolist():
            within, beyond = (high, low) if by_size else (low, high)
            for _ in range(halvings):
                middle = float(np.sqrt(within * beyond))
                step = given if given > 0 else middle
                price = middle if given > 0 else factor * middle * middle
                found = self.cells_at(step, price, kind > 0)
                if not found[asked] <= limit:
                    beyond = middle
                    continue
                within = middle
                unused = limit - float(found[asked])
                worth = 0.0
                if price > 0 and not unused > NEARLY * limit:
                    worth = price * unused if by_size else unused / price
                if found[left] - worth < least:
                    least = found[left] - worth
                    best = step, price, kind > 0
                    out[:] = [*found, *best]
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

    Best is the least error within so many bits, or the fewest bits within so much error, where a small
    part of the limit that is left counts for what its price says.

    ways:    five numbers each: a step or 0, a factor, the lowest and highest to try of what is free, and 1
             for even values. Free is the price; or the step where there is none, and then the price is
             factor * step^2
    room:    for even cells to begin with; lengths: for those of all classes
    levels:  of every class, sign and bin
    values:  of every level; 0 for one out of use
    out:     bits of symbols and tables, and the sum of squared errors; infinities if none keeps to the limit;
             step, price, and 1 for even values
    """
    if not 1 <= classes <= KEYS or len(sums) != len(ahead) or len(ahead) % (2 * classes):
        return -1
    bins = len(ahead) // (2 * classes) - 1
    if not 1 <= bins <= BINS or len(levels) != 2 * classes * bins or len(ways) % WAY:
        return -1
    if not are_rows(len(levels), first, bins) or len(out) != FOUND:
        return -1
    if [len(lengths), len(values)] != [2 * classes * (MOST_CELLS + 1), MOST_CELLS + 1]:
        return -1
    shape = 2 * classes, bins + 1
    search = _CellSearch(ClassBins(first, ahead.reshape(shape), sums.reshape(shape), energy), room)
    best = search.best(ways, by_size, limit, halvings, out)
    levels[:], values[:], lengths[:] = 0, 0, 0
    if best is not None:
        search.cells_at(*best, levels)
        values[: len(search.values)] = np.where(search.used, search.values, 0)
    return 0
