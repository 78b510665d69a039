"""How symbols are to be coded by class: levels of rows and columns, the order of keys, classes and tables."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.class_tables import choose_classes
from lossyfl.kernels.classes import gather_keys, scatter_keys
from lossyfl.kernels.levels import KEYS, choose_levels
from lossyfl.kernels.plan import MAX_SEGMENTS, SEGMENT_BYTES, SEGMENT_ENTRIES
from lossyfl.types import Counts, GivenLevels, Symbols
from lossyfl.wire.class_side import Levels, Tables, write_levels, write_tables
from lossyfl.wire.even import is_even
from lossyfl.wire.numbers import Writer
from lossyfl.wire.shapes import Shapes
from lossyfl.wire.tables import varint

MOST_ALPHABET = 256
LEAST_ENTRIES = 256
"""Shorter vectors are not worth their side information."""
PASSES = 3
NEAR = 2
"""Passes to improve levels that are given."""
LONG = 1 << 19
"""Vectors of more entries have one pass."""
BUSY_AT_ONCE = 1 << 15
"""Of more busy entries a part is read."""
COUNT_BYTES = 2
"""Of the number of segments."""


@dataclass(slots=True)
class ClassPlan:
    """How to code symbols by class, and what it will take."""

    keyed: NDArray[np.uint8]
    alphabet: int
    tables: Tables
    side: bytes
    segments: int
    nbytes: int


@dataclass(slots=True)
class ClassOrder:
    """Symbols in the order of their keys, and which keys share a class.

    key_edges: where every key begins
    sums:      counts of the symbols before every key
    class_of:  the class of every key
    """

    levels: Levels
    keyed: NDArray[np.uint8]
    alphabet: int
    key_edges: NDArray[np.int64]
    sums: NDArray[np.int64]
    class_of: NDArray[np.uint8]
    classes: int

    @classmethod
    def of(cls, symbols: NDArray[np.uint8], alphabet: int, levels: Levels) -> "ClassOrder":
        """The classes that cost least with such levels."""
        keyed = np.empty(len(symbols), np.uint8)
        own = (levels.shapes, levels.rows, levels.columns, levels.leans)
        assert gather_keys(symbols, alphabet, *own, *levels.scratch(), keyed) == 0
        key_edges = levels.starts(len(symbols))
        sums = np.empty((KEYS + 1) * alphabet, np.int64)
        class_of = np.empty(KEYS, np.uint8)
        classes = choose_classes(keyed, key_edges, alphabet, sums, class_of)
        assert classes > 0
        return cls(levels, keyed, alphabet, key_edges, sums, class_of, classes)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where every class begins, and the last one ends."""
        return self.key_edges[np.searchsorted(self.class_of, np.arange(self.classes + 1))]

    def levels_nbytes(self) -> int:
        """What shapes, levels and leans take."""
        writer = Writer()
        write_levels(writer, self.levels)
        return len(writer.data())

    def classes_of_entries(self) -> NDArray[np.uint8]:
        """The class c of every entry; twice as many less c + 1 for those that are turned round."""
        keyed = np.repeat(np.arange(self.classes, dtype=np.uint8), np.diff(self.starts))
        out, levels, both = np.empty_like(keyed), self.levels, 2 * self.classes
        own = (levels.shapes, levels.rows, levels.columns, levels.leans)
        values = np.arange(both, dtype=np.uint8)
        assert scatter_keys(keyed, *own, values, both, *levels.scratch(), out) == 0
        return out

    def plan(self) -> ClassPlan:
        """The tables of all classes, and what everything takes."""
        tables = Tables.of(self.classes, self.alphabet)
        tables.starts[:] = self.starts
        writer = Writer()
        write_levels(writer, self.levels)
        own = self.class_of, self.key_edges, self.sums.reshape(-1, self.alphabet)
        bits = write_tables(writer, tables, *own)
        side = writer.data()
        segments = _segments(len(self.keyed), int(bits) // 8)
        nbytes = len(varint(len(side))) + len(side) + COUNT_BYTES + int(bits) // 8
        nbytes += (
            16 * segments + 4 * (segments - 1) - 8 * segments
        )  # states hold half of their bytes
        return ClassPlan(self.keyed, self.alphabet, tables, side, segments, nbytes)


def order(symbols: Symbols, counts: Counts, shapes: Shapes) -> ClassOrder | None:
    """The classes of symbols; None where there is nothing to be gained, whatever they are."""
    levels = _levels_of(symbols, counts, shapes)
    if levels is None:
        return None
    return ClassOrder.of(symbols.astype(np.uint8, copy=False), len(counts), levels)


def near(symbols: Symbols, counts: Counts, levels: Levels, passes: int) -> ClassOrder | None:
    """The classes of symbols with levels near others; None where nothing tells them apart."""
    given = levels.rows, levels.columns, levels.leans
    found = _levels_of(symbols, counts, levels.shapes, given, passes)
    return found and ClassOrder.of(symbols.astype(np.uint8, copy=False), len(counts), found)


def plan(
    symbols: Symbols, counts: Counts, shapes: Shapes, given: GivenLevels | None = None
) -> ClassPlan | None:
    """Levels, classes and tables of symbols; None where there is nothing to be gained, whatever they are.

    given: levels by which symbols were chosen: the best are these or some that are near
    """
    if given is None:
        made = order(symbols, counts, shapes)
        return made and made.plan()
    plans: list[ClassPlan] = []
    for passes in (0, NEAR):
        levels = _levels_of(symbols, counts, shapes, given, passes)
        if levels is not None:
            narrow = symbols.astype(np.uint8, copy=False)
            plans.append(ClassOrder.of(narrow, len(counts), levels).plan())
    return min(plans, key=lambda each: each.nbytes, default=None)


def _levels_of(
    symbols: Symbols,
    counts: Counts,
    shapes: Shapes,
    given: GivenLevels | None = None,
    passes: int = 0,
) -> Levels | None:
    """Levels, chosen anew or near given ones; None where there is nothing to be gained."""
    alphabet = len(counts)
    if alphabet > MOST_ALPHABET or len(symbols) < LEAST_ENTRIES or np.count_nonzero(counts) < 2:
        return None
    narrow = symbols.astype(np.uint8, copy=False)
    if given is None and is_even(narrow, alphabet, shapes):
        return None
    levels = Levels.of(shapes) if given is None else Levels.given(shapes, given)
    busy = len(symbols) - int(counts[(alphabet - 1) // 2 : alphabet // 2 + 1].sum())
    step = max(1, -(-busy // BUSY_AT_ONCE))
    units = int(max(shapes[0::3].max(), shapes[1::3].max()))
    if given is None:
        passes = PASSES if step == 1 and len(symbols) <= LONG else 1
    found = choose_levels(
        narrow, alphabet, shapes, step, step, given is None, passes,
        levels.rows, levels.columns, levels.leans, np.empty(10 * units, np.int64),
    )  # fmt: skip
    assert found == 0
    if all(len(np.unique(each)) == 1 for each in (levels.rows, levels.columns, levels.leans)):
        return None
    return levels


def _segments(entries: int, nbytes: int) -> int:
    share = min(entries // SEGMENT_ENTRIES, nbytes // SEGMENT_BYTES, MAX_SEGMENTS)
    return 1 << (max(share, 1).bit_length() - 1)
