"""The encoder's choice of levels and leans of rows and columns: the reference of levels.c.

Every tensor is a matrix: entry i of a row belongs to column i // run (of a convolution, a column is an
input channel and a run its kernel). A row and a column have a level each, about the logarithm of their mean
magnitude; the sum of both, an entry's *score*, tells how busy it is. A row also *leans*: -2 to 2, how much
its symbols are on one side of zero. Nothing of this has to be right: a decoder only needs to know it.

Levels begin as rounded logarithms, and are then improved, in passes. Entries are put into few *buckets* by
magnitude and sign; counts of buckets beside every score and size of lean, smoothed over near scores, give
costs of entries in 32nds of a bit. Given the columns, each tensor's rows take the levels that cost least
together, entries and the steps from one level to the next; then, given the rows, the columns do. Both are
the cheapest ways through all levels (Viterbi, IEEE Trans. Inf. Theory 1967). All costs are whole numbers,
so that all machines choose the same.

Of long vectors each `column_step`-th column is read for rows, each `row_step`-th row for columns.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.logarithms import log2
from lossyfl.kernels.native import native

LEVELS = 16
NEUTRAL = 8
"""The level of a column like all of its tensor."""
LEANS = 5
"""Of a row, -2 to 2, written as 0 to 4."""
UPRIGHT = 2
SCORES = 2 * LEVELS - 1
KEYS = 3 * SCORES
MOST_ENTRIES = 1 << 33
MOST_OF_ROW = 1 << 20
_BUCKETS, _QUIET, _ROUND_UP = 15, 7, 32
_UNITS, _MOST_COST, _NEVER, _FAR = 32, 480, 960, 1 << 28

Bytes = NDArray[np.uint8]
Shapes = NDArray[np.int64]
Ints = NDArray[np.int64]


@dataclass(slots=True)
class Matrix:
    """One tensor of a vector: its symbols by rows, and views of the levels that are its own."""

    symbols: Bytes
    rows: Bytes
    columns: Bytes
    leans: Bytes
    run: int

    @property
    def of_column(self) -> Ints:
        """The column of every entry of a row."""
        width: int = self.symbols.shape[1]
        return np.arange(width, dtype=np.int64) // self.run


def matrices(
    symbols: Bytes, shapes: Shapes, rows: Bytes, columns: Bytes, leans: Bytes
) -> list[Matrix]:
    """The tensors one after the other."""
    found: list[Matrix] = []
    entry = row = column = 0
    for count, across, run in shapes.reshape(-1, 3).tolist():
        own = symbols[entry : entry + count * across * run].reshape(count, across * run)
        found.append(
            Matrix(
                own,
                rows[row : row + count],
                columns[column : column + across],
                leans[row : row + count],
                run,
            )
        )
        entry, row, column = entry + count * across * run, row + count, column + across
    return found


def are_shapes(shapes: Shapes, entries: int, rows: int, columns: int) -> bool:
    """Whether shapes are of so many entries, rows and columns."""
    if len(shapes) < 3 or len(shapes) % 3 or entries > MOST_ENTRIES or int(shapes.min()) < 1:
        return False
    triples: list[list[int]] = shapes.reshape(-1, 3).tolist()
    sums = [sum(a * b * c for a, b, c in triples), *(sum(t[i] for t in triples) for i in (0, 1))]
    return sums == [entries, rows, columns]


def are_levels(rows: Bytes, columns: Bytes, leans: Bytes) -> bool:
    """Whether levels and leans are what they may be."""
    high = max(int(rows.max(initial=0)), int(columns.max(initial=0)))
    return len(leans) == len(rows) and high < LEVELS and int(leans.max(initial=0)) < LEANS


@native("u8[] i i64[] i i i i u8[]! u8[]! u8[]! i64[]! -> i")
def choose_levels(
    symbols: Bytes,
    alphabet: int,
    shapes: Shapes,
    row_step: int,
    column_step: int,
    anew: bool,
    passes: int,
    rows: Bytes,
    columns: Bytes,
    leans: Bytes,
    scratch: Ints,
) -> int:
    """Fill the levels of all rows and columns, and the leans of rows; -1 if sizes do not fit.

    shapes:  rows, columns and run of every tensor
    anew:    whether to begin by mean magnitudes, or with the levels that are there
    scratch: room for ten numbers a row or column of the tensor that has most of them
    """
    if not 2 <= alphabet <= 256 or len(leans) != len(rows):
        return -1
    if min(row_step, column_step) < 1 or max(row_step, column_step) > MOST_OF_ROW:
        return -1
    if not 0 <= passes <= 16 or not are_shapes(shapes, len(symbols), len(rows), len(columns)):
        return -1
    for count, across, run in shapes.reshape(-1, 3).tolist():
        if (across > 1 and max(across, count) * run > MOST_OF_ROW) or len(scratch) // 10 < max(
            count, across
        ):
            return -1
    if not anew and not are_levels(rows, columns, leans):
        return -1
    search = _LevelSearch(alphabet, row_step, column_step)
    tensors = matrices(symbols, shapes, rows, columns, leans)
    for each in tensors if anew else []:
        search.begin(each)
    for each in range(passes):
        if each and _are_alike(rows, columns, leans):
            break
        search.improve(tensors, rows, columns, leans)
    return 0


def _are_alike(rows: Bytes, columns: Bytes, leans: Bytes) -> bool:
    """Whether nothing tells entries apart, which no further pass changes."""
    return len({*rows}) == len({*columns}) == len({*leans}) == 1 and int(leans[0]) == UPRIGHT


def _units(count: int, total: int) -> int:
    """-log2(count / total) in 32nds of a bit."""
    units = _UNITS * (log2(total) - log2(count)) + 0.5
    return int(units) if units < _MOST_COST else _MOST_COST


def _level(total: int, count: int, beside: float, shift: int) -> int:
    level = log2((2 * total + 1) / (2 * count) / beside) + shift + 0.5
    return 0 if level < 0 else min(int(level), LEVELS - 1)


def _buckets(alphabet: int) -> Ints:
    """The bucket of every symbol: its magnitude, ever more coarsely, and its sign."""
    twice = 2 * np.arange(alphabet) - (alphabet - 1)
    edges = np.array([1, 2, 3, 4, 6, 9, 16])
    size = np.searchsorted(edges, np.abs(twice) // 2, side="right")
    return np.pad(_QUIET + np.where(twice < 0, -size, size), (0, 256 - alphabet), mode="edge")


class _LevelSearch:
    """Costs, and what is read."""

    def __init__(self, alphabet: int, row_step: int, column_step: int) -> None:
        self.row_step, self.column_step = row_step, column_step
        self.buckets = _buckets(alphabet)
        self.quiet = np.zeros((3, _ROUND_UP), np.int64)
        self.busy = np.zeros((3, _BUCKETS, _ROUND_UP), np.int64)
        self.steps = np.zeros((LEVELS, LEVELS), np.int64)
        self.leans = np.zeros(LEANS, np.int64)

    def _sample(self, of: Matrix) -> tuple[Ints, Ints]:
        """Buckets of the columns that are read, and the column of each."""
        column = of.of_column[:MOST_OF_ROW]
        seen = column % self.column_step == 0
        return self.buckets[of.symbols[:, :MOST_OF_ROW][:, seen]], column[seen]

    def begin(self, of: Matrix) -> None:
        """Levels by mean magnitudes, leans by signs."""
        buckets, column = self._sample(of)
        side = np.sign(buckets - _QUIET)
        sizes = np.abs(buckets - _QUIET)
        lean, both = side.sum(1), np.abs(side).sum(1)
        most = np.abs(lean)
        size = np.where(4 * most > 3 * both, 2, np.where(5 * most > both, 1, 0))
        of.leans[:] = UPRIGHT + np.sign(lean) * np.where(lean * lean <= 3 * both, 0, size)
        of.rows[:] = [_level(int(total), len(column), 1, 12) for total in sizes.sum(1)]
        of.columns[:] = NEUTRAL
        if len(of.columns) == 1:
            return
        mean = (2 * int(sizes.sum()) + 1) / (2 * sizes.size)
        sums = np.bincount(column, sizes.sum(0), len(of.columns))
        for j in range(0, len(of.columns), self.column_step):
            of.columns[j] = _level(int(sums[j]), len(of.rows) * of.run, mean, NEUTRAL)

    def improve(self, tensors: list[Matrix], rows: Bytes, columns: Bytes, leans: Bytes) -> None:
        """One pass: costs, then the rows of all tensors, then the columns."""
        self._learn_costs(tensors)
        count = np.bincount(leans, minlength=LEANS).tolist()
        self.leans[:] = [_units(each + 1, len(leans) + LEANS) for each in count]
        self._learn_steps(rows)
        last: int | None = None
        for each in tensors:
            self._choose_rows(each, last)
            last = int(each.rows[-1])
        self._learn_steps(columns)
        last = None
        for each in tensors:
            if len(each.columns) > 1:  # the level of a single column does not travel
                self._choose_columns(each, last)
                last = int(each.columns[-1])

    def _learn_costs(self, tensors: list[Matrix]) -> None:
        counts = np.zeros((3, SCORES, _BUCKETS), np.int64)
        for of in tensors:
            buckets, column = self._sample(of)
            some = slice(None, None, self.row_step)
            down = (of.leans < UPRIGHT)[some, None]
            turned = np.where(down, 2 * _QUIET - buckets[some], buckets[some])
            score = of.rows[some, None].astype(np.int64) + of.columns[column].astype(np.int64)
            size = np.abs(of.leans[some].astype(np.int64) - UPRIGHT)[:, None]
            np.add.at(counts, (np.broadcast_to(size, turned.shape), score, turned), 1)
        everywhere = counts.sum((0, 1))
        for size in range(3):
            self._fill_costs(counts[size], 1 + 32 * everywhere // everywhere.sum(), size)

    def _fill_costs(self, counts: Ints, prior: Ints, size: int) -> None:
        used = np.flatnonzero(counts.any(1))
        if not len(used):
            self.quiet[size], self.busy[size] = _NEVER, 0
            return
        padded = np.pad(counts, ((2, 2), (0, 0)))
        near = prior + 16 * counts + 4 * (padded[1:-3] + padded[3:-1]) + padded[:-4] + padded[4:]
        for score in range(_ROUND_UP):
            own = near[min(max(score, int(used[0])), int(used[-1]))].tolist()
            costs = np.array([_units(each, sum(own)) for each in own])
            self.quiet[size, score] = costs[_QUIET]
            self.busy[size, :, score] = costs - costs[_QUIET]

    def _learn_steps(self, levels: Bytes) -> None:
        sizes = [abs(a - b) for a, b in pairwise(levels.tolist())]
        count = np.bincount(sizes, minlength=LEVELS).tolist() if sizes else [0] * LEVELS
        cost = [
            _units(each + 1, len(levels) + LEVELS) + (_UNITS if i else 0)
            for i, each in enumerate(count)
        ]
        place = np.arange(LEVELS)
        self.steps[:] = np.array(cost)[np.abs(place[:, None] - place)]

    def _choose_rows(self, of: Matrix, last: int | None) -> None:
        buckets, column = self._sample(of)
        lanes = of.columns[column].astype(np.int64)[:, None] + np.arange(LEVELS)
        sums = np.empty((len(of.rows), LEANS, LEVELS), np.int64)
        for lean in range(LEANS):
            size = abs(lean - UPRIGHT)
            quiet = self.quiet[size][lanes].sum(0)
            for r, own in enumerate(buckets):
                turned = 2 * _QUIET - own if lean < UPRIGHT else own
                busy = turned != _QUIET
                sums[r, lean] = quiet + self.busy[size][turned[busy, None], lanes[busy]].sum(0)
        sums = sums * self.column_step + self.leans[:, None]
        chosen = sums.argmin(1)
        own = sums.min(1)
        of.rows[:] = self._cheapest(np.minimum(own - own.min(1, keepdims=True), _FAR), last)
        of.leans[:] = chosen[np.arange(len(of.rows)), of.rows]

    def _choose_columns(self, of: Matrix, last: int | None) -> None:
        sums = np.zeros((len(of.columns), LEVELS), np.int64)
        for r in range(0, len(of.rows), self.row_step):
            lean, lanes = int(of.leans[r]), int(of.rows[r]) + np.arange(LEVELS)
            own = self.buckets[of.symbols[r]]
            turned = 2 * _QUIET - own if lean < UPRIGHT else own
            sums += of.run * self.quiet[abs(lean - UPRIGHT)][lanes]
            busy = turned != _QUIET
            table = self.busy[abs(lean - UPRIGHT)][:, lanes]
            np.add.at(sums, of.of_column[busy], table[turned[busy]])
        own = (sums - sums.min(1, keepdims=True)) * self.row_step
        of.columns[:] = self._cheapest(np.minimum(own, _FAR), last)

    def _cheapest(self, own: Ints, last: int | None) -> list[int]:
        """The levels of all units that cost least together."""
        best = np.zeros(LEVELS, np.int64)
        if last is not None:
            best[:] = _FAR
            best[last] = 0
        back: list[Ints] = []
        for costs in own:
            ways = best[:, None] + self.steps
            back.append(ways.argmin(0))
            best = ways.min(0) - best.min() + costs
        level, levels = int(best.argmin()), list[int]()
        for each in reversed(back):
            levels.append(level)
            level = int(each[level])
        return levels[::-1]
