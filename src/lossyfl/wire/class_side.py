"""What travels beside symbols that are coded by class: shapes, levels, leans, and the tables of classes.

    tensors, then rows, columns and runs of all of them (`shapes`)
    steps of levels from row to row, and from column to column where a tensor has several
    leans of rows
    leading bits of a count; of every key that occurs but the first, whether a class begins
    of every class symbols a letter and its commonest symbol, against the class before
    distances of counts (`kernels/class_tables.py`)

Each is a family of numbers (`kernels/numbers.py`).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import FrameError, InputError
from lossyfl.kernels.class_tables import make_tables, open_tables
from lossyfl.kernels.classes import key_starts
from lossyfl.kernels.levels import KEYS, LEANS, LEVELS, NEUTRAL, UPRIGHT, are_levels
from lossyfl.kernels.model import MAX_LETTERS, Frequencies
from lossyfl.types import GivenLevels
from lossyfl.wire import shapes as wire_shapes
from lossyfl.wire.numbers import Reader, Writer
from lossyfl.wire.shapes import Shapes

SHAPES, COLUMNS_OF, RUNS, ROWS, COLUMNS, LEAN, CUTS, GROUPS, COMMONEST, TABLES = range(10)
"""Families of numbers."""
FINE, COARSE = 7, 4
"""Leading bits of counts; few do for frames of less than so many bytes:"""
SHORT = 1 << 14


@dataclass(slots=True)
class Levels:
    """What is known of every entry: shapes of tensors, levels of their rows and columns, leans of rows."""

    shapes: Shapes
    rows: NDArray[np.uint8]
    columns: NDArray[np.uint8]
    leans: NDArray[np.uint8]

    @classmethod
    def of(cls, shapes: Shapes) -> "Levels":
        """Room for those of such tensors."""
        count = int(shapes[0::3].sum())
        columns = np.full(int(shapes[1::3].sum()), NEUTRAL, np.uint8)
        return cls(shapes, np.empty(count, np.uint8), columns, np.empty(count, np.uint8))

    @classmethod
    def given(cls, shapes: Shapes, levels: GivenLevels) -> "Levels":
        """Copies of those that a quantizer has chosen symbols by."""
        rows, columns, leans = (each.copy() for each in levels)
        sizes = [int(shapes[0::3].sum()), int(shapes[1::3].sum())]
        fine = all(each.dtype == np.uint8 and each.ndim == 1 for each in (rows, columns, leans))
        if not fine or [len(rows), len(columns)] != sizes or not are_levels(rows, columns, leans):
            allowed = f"of every row and column, below {LEVELS}, and leans of rows, below {LEANS}"
            raise InputError("levels", of="Quantized", allowed=allowed, got="others")
        return cls(shapes, rows, columns, leans)

    @property
    def travels(self) -> NDArray[np.bool_]:
        """Which columns have levels that travel: those of tensors with several."""
        return np.repeat(self.shapes[1::3] > 1, self.shapes[1::3])

    def starts(self, entries: int) -> NDArray[np.int64]:
        """Where each key begins among the symbols by key."""
        starts = np.empty(KEYS + 1, np.int64)
        assert key_starts(self.shapes, entries, self.rows, self.columns, self.leans, starts) == 0
        return starts

    def scratch(self) -> tuple[NDArray[np.uint32], NDArray[np.uint8]]:
        """Room for a row of every tensor with several columns."""
        widths = (self.shapes[1::3] * self.shapes[2::3])[self.shapes[1::3] > 1]
        room = int(widths.max(initial=0))
        return np.empty(room, np.uint32), np.empty(room, np.uint8)


@dataclass(slots=True)
class Tables:
    """The classes of a vector: what each is coded with, and where it begins among the symbols by key."""

    groups: NDArray[np.uint8]
    commonest: NDArray[np.uint8]
    weights: Frequencies
    frequencies: Frequencies
    starts: NDArray[np.int64]

    @classmethod
    def of(cls, classes: int, alphabet: int) -> "Tables":
        """Room for so many."""
        return cls(
            np.empty(classes, np.uint8),
            np.empty(classes, np.uint8),
            np.empty(classes * alphabet, np.uint64),
            np.empty(classes * MAX_LETTERS, np.uint64),
            np.empty(classes + 1, np.int64),
        )

    @property
    def letters(self) -> int:
        """Of all classes together."""
        return int((-(-np.diff(self.starts) // self.groups)).sum())


def write_levels(writer: Writer, levels: Levels) -> None:
    """Write shapes, levels and leans."""
    numbers = wire_shapes.written(levels.shapes)
    writer.add(SHAPES, [len(numbers[0]), *numbers[0]])
    writer.add(COLUMNS_OF, numbers[1])
    writer.add(RUNS, numbers[2])
    writer.add(ROWS, _steps(levels.rows))
    writer.add(COLUMNS, _steps(levels.columns[levels.travels]))
    writer.add(LEAN, levels.leans.astype(np.int64) - UPRIGHT)


def _steps(levels: NDArray[np.uint8]) -> NDArray[np.int64]:
    return np.diff(levels.astype(np.int64), prepend=NEUTRAL)


def write_tables(
    writer: Writer,
    tables: Tables,
    class_of: NDArray[np.uint8],
    key_edges: NDArray[np.int64],
    sums: NDArray[np.int64],
) -> float:
    """Fill the tables and write them; the bits that the symbols will take."""
    classes, alphabet = len(tables.groups), sums.shape[1]
    ends = np.searchsorted(class_of, np.arange(classes + 1))
    counts = np.diff(sums[ends], axis=0).ravel()
    numbers = np.empty(classes * (alphabet - 1), np.int64)
    precision = COARSE if key_edges[-1] < 8 * SHORT else FINE
    bits = make_tables(
        counts,
        alphabet,
        precision,
        tables.weights,
        numbers,
        tables.commonest,
        tables.groups,
        tables.frequencies,
    )
    assert bits >= 0
    present = class_of[np.diff(key_edges) > 0]
    writer.add(CUTS, [precision, *np.diff(present.astype(np.int64))])
    writer.add(GROUPS, np.diff(tables.groups.astype(np.int64), prepend=0))
    writer.add(COMMONEST, np.diff(tables.commonest.astype(np.int64), prepend=alphabet // 2))
    writer.add(TABLES, numbers)
    return bits


def read_levels(reader: Reader, entries: int) -> Levels:
    """The shapes, levels and leans behind `write_levels`, of a vector of so many entries."""
    tensors = int(reader.take(SHAPES, 1)[0])
    if not 1 <= tensors <= min(entries, wire_shapes.MOST_TENSORS):
        raise FrameError(reader.offset, "a number of tensors that the vector can hold", tensors)
    rows, columns, runs = (
        reader.take(family, tensors).tolist() for family in (SHAPES, COLUMNS_OF, RUNS)
    )
    levels = Levels.of(wire_shapes.read(rows, columns, runs, entries, offset=reader.offset))
    travels = levels.travels
    levels.rows[:] = _levels_of(reader.take(ROWS, len(levels.rows)), reader.offset)
    levels.columns[travels] = _levels_of(reader.take(COLUMNS, int(travels.sum())), reader.offset)
    leans = reader.take(LEAN, len(levels.leans)) + UPRIGHT
    if leans.min() < 0 or leans.max() >= LEANS:
        raise FrameError(reader.offset, f"leans of at most {UPRIGHT}", "others")
    levels.leans[:] = leans
    return levels


def _levels_of(steps: NDArray[np.int64], offset: int) -> NDArray[np.int64]:
    if np.abs(steps).max(initial=0) < LEVELS:
        levels = np.cumsum(steps) + NEUTRAL
        if levels.min(initial=0) >= 0 and levels.max(initial=0) < LEVELS:
            return levels
    raise FrameError(offset, f"levels below {LEVELS}", "others")


def read_tables(reader: Reader, levels: Levels, alphabet: int, entries: int) -> Tables:
    """The tables behind `write_tables`."""
    key_edges = levels.starts(entries)
    present = np.flatnonzero(np.diff(key_edges))
    cuts = reader.take(CUTS, len(present))
    precision, begins = int(cuts[0]), np.concatenate([[1], cuts[1:]])
    if precision not in (COARSE, FINE) or begins.min() < 0 or begins.max() > 1:
        raise FrameError(reader.offset, "classes of keys", "others")
    classes = int(begins.sum())
    tables = Tables.of(classes, alphabet)
    tables.starts[:] = [*key_edges[present[begins == 1]], entries]
    for family, first, below, out in (
        (GROUPS, 0, 9, tables.groups),
        (COMMONEST, alphabet // 2, alphabet, tables.commonest),
    ):
        found = np.cumsum(reader.take(family, classes)) + first
        if found.min() < 0 or found.max() >= below:
            raise FrameError(reader.offset, f"numbers of classes below {below}", "others")
        out[:] = found
    numbers = reader.take(TABLES, classes * (alphabet - 1))
    sizes = np.diff(tables.starts)
    own = (tables.commonest, tables.groups, tables.weights, tables.frequencies)
    if open_tables(numbers, alphabet, precision, sizes, *own) < 0:
        raise FrameError(reader.offset, "tables of counts that sum up", "others")
    return tables
