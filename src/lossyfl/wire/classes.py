"""Symbols coded by the row and column of their entry: a fourth code beside those of `body`, from version 5.

    side     varint of its bytes, and these (`class_side`)
    segments u16, then u32 words of each but the last, then segments, as in `body`

What is known before a symbol is read is where every class begins, so symbols travel class by class.
"""

import struct
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import FrameError
from lossyfl.kernels import parallel
from lossyfl.kernels.class_coder import pop_classes, push_classes
from lossyfl.kernels.class_tables import choose_classes
from lossyfl.kernels.classes import gather_keys, scatter_keys
from lossyfl.kernels.levels import KEYS, choose_levels
from lossyfl.kernels.model import entropy
from lossyfl.kernels.plan import MAX_SEGMENTS, SEGMENT_BYTES, SEGMENT_ENTRIES
from lossyfl.types import Counts, Symbols, Vector
from lossyfl.wire.body import PIECE_ENTRIES, edges_of, share_of
from lossyfl.wire.class_side import (
    Levels,
    Tables,
    read_levels,
    read_tables,
    write_levels,
    write_tables,
)
from lossyfl.wire.even import is_even
from lossyfl.wire.numbers import Reader, Writer
from lossyfl.wire.shapes import Shapes
from lossyfl.wire.tables import read_varint, varint

S = TypeVar("S", bound=np.generic)

MOST_ALPHABET = 256
COUNT = struct.Struct("<H")
SLACK = 800
"""Bits above the entropy of order 0, which no other code of it takes less than: more is not tried."""
LEAST_ENTRIES = 256
"""Shorter vectors are not worth their side information."""
PASSES = 3
LONG = 1 << 19
"""Vectors of more entries have one pass."""
BUSY_AT_ONCE = 1 << 15
"""Of more busy entries a part is read."""


@dataclass(slots=True)
class ClassPlan:
    """How to code symbols by class, and what it will take."""

    keyed: NDArray[np.uint8]
    alphabet: int
    tables: Tables
    side: bytes
    segments: int
    nbytes: int


def plan(symbols: Symbols, counts: Counts, shapes: Shapes) -> ClassPlan | None:
    """Levels, classes and tables of symbols; None where there is nothing to be gained, whatever they are."""
    alphabet = len(counts)
    if alphabet > MOST_ALPHABET or len(symbols) < LEAST_ENTRIES or np.count_nonzero(counts) < 2:
        return None
    narrow = symbols.astype(np.uint8, copy=False)
    if is_even(narrow, alphabet, shapes):
        return None
    levels = _chosen(narrow, alphabet, counts, shapes)
    if all(len(np.unique(each)) == 1 for each in (levels.rows, levels.columns, levels.leans)):
        return None
    keyed = np.empty(len(symbols), np.uint8)
    own = (levels.shapes, levels.rows, levels.columns, levels.leans)
    assert gather_keys(narrow, alphabet, *own, *levels.scratch(), keyed) == 0
    key_edges = levels.starts(len(symbols))
    sums = np.empty((KEYS + 1) * alphabet, np.int64)
    class_of = np.empty(KEYS, np.uint8)
    classes = choose_classes(keyed, key_edges, alphabet, sums, class_of)
    assert classes > 0
    tables = Tables.of(classes, alphabet)
    tables.starts[:] = key_edges[np.searchsorted(class_of, np.arange(classes + 1))]
    writer = Writer()
    write_levels(writer, levels)
    bits = write_tables(writer, tables, class_of, key_edges, sums.reshape(-1, alphabet))
    side = writer.data()
    segments = _segments(len(symbols), int(bits) // 8)
    nbytes = len(varint(len(side))) + len(side) + COUNT.size + int(bits) // 8
    nbytes += 16 * segments + 4 * (segments - 1) - 8 * segments  # states hold half of their bytes
    return ClassPlan(keyed, alphabet, tables, side, segments, nbytes)


def _chosen(symbols: NDArray[np.uint8], alphabet: int, counts: Counts, shapes: Shapes) -> Levels:
    levels = Levels.of(shapes)
    busy = len(symbols) - int(counts[(alphabet - 1) // 2 : alphabet // 2 + 1].sum())
    step = max(1, -(-busy // BUSY_AT_ONCE))
    units = int(max(shapes[0::3].max(), shapes[1::3].max()))
    found = choose_levels(
        symbols, alphabet, shapes, step, step, PASSES if step == 1 and len(symbols) <= LONG else 1,
        levels.rows, levels.columns, levels.leans, np.empty(10 * units, np.int64),
    )  # fmt: skip
    assert found == 0
    return levels


def _segments(entries: int, nbytes: int) -> int:
    share = min(entries // SEGMENT_ENTRIES, nbytes // SEGMENT_BYTES, MAX_SEGMENTS)
    return 1 << (max(share, 1).bit_length() - 1)


def encode(
    symbols: Symbols, counts: Counts, shapes: Shapes | None, threads: int
) -> list[bytes | memoryview]:
    """The symbols, as pieces to be joined; none where that is not expected to be worth it."""
    made = None if shapes is None else plan(symbols, counts, shapes)
    if made is None or 8 * made.nbytes > entropy(counts) + SLACK:
        return []
    return pushed(made, threads)


def pushed(plan: ClassPlan, threads: int) -> list[bytes | memoryview]:
    """The symbols as they are planned, as pieces to be joined."""
    tables, letters = plan.tables, plan.tables.letters
    share = share_of(letters, plan.segments)
    segments = -(-letters // share)
    width, at_once = 2 * (share + 9), min(segments, max(1, threads * PIECE_ENTRIES // share))
    own = (plan.alphabet, tables.starts, tables.groups, tables.commonest, tables.frequencies)
    coded: list[bytes] = []
    for number in range(0, segments, at_once):
        count = min(at_once, segments - number)
        words, first = np.empty(count * width, np.uint8), np.empty(count, np.int64)
        parallel.wake(threads)
        assert push_classes(plan.keyed, *own, share, number, threads, words, first) == 0
        rows = zip(words.reshape(count, width), first.tolist(), strict=True)
        coded += [row[begin:].tobytes() for row, begin in rows]
    lengths = struct.pack(f"<{segments - 1}I", *(len(segment) // 2 for segment in coded[:-1]))
    return [varint(len(plan.side)), plan.side, COUNT.pack(segments), lengths, *coded]


@dataclass(slots=True)
class ClassCoded:
    """Symbols coded by class, opened but not yet decoded.

    side:   bytes of side information, tables among it
    data:   the bytes of all segments
    edges:  segment i is the words [edges[i], edges[i + 1])
    offset: where the first segment stands in the frame
    """

    levels: Levels
    tables: Tables
    alphabet: int
    entries: int
    side: int
    data: NDArray[np.uint8]
    edges: NDArray[np.int64]
    offset: int

    group: ClassVar[int] = 0
    """Letters differ by class."""

    @property
    def classes(self) -> int:
        """How many there are."""
        return len(self.tables.groups)

    @property
    def segments(self) -> int:
        """How many there are."""
        return len(self.edges) - 1

    def entropy(self) -> float:
        """The entropy of the symbols of every class by the counts that the frame carries, summed, in bits."""
        counts = self.tables.weights.reshape(-1, self.alphabet).astype(np.int64)
        sizes = np.diff(self.tables.starts).tolist()
        return sum(
            entropy(own) * size / int(own.sum()) for own, size in zip(counts, sizes, strict=True)
        )

    def symbols(self, threads: int) -> Symbols:
        """The symbols themselves."""
        return self._looked_up(np.arange(self.alphabet, dtype=np.uint8), threads)

    def values(self, row: Vector, threads: int) -> Vector:
        """`row[symbol]` for every symbol."""
        return self._looked_up(np.ascontiguousarray(row), threads)

    def _looked_up(self, row: NDArray[S], threads: int) -> NDArray[S]:
        keyed, out = self._keyed(threads), np.empty(self.entries, row.dtype)
        levels = self.levels
        own = (levels.shapes, levels.rows, levels.columns, levels.leans)
        assert scatter_keys(keyed, *own, row, self.alphabet, *levels.scratch(), out) == 0
        return out

    def _keyed(self, threads: int) -> NDArray[np.uint8]:
        """The symbols by key."""
        out = np.empty(self.entries, np.uint8)
        tables = self.tables
        share = share_of(tables.letters, self.segments)
        own = (self.alphabet, tables.starts, tables.groups, tables.frequencies, share, 0)
        parallel.wake(threads)
        bad = pop_classes(self.data, self.edges, *own, threads, out)
        assert bad >= -1, "a coder that was given wrong sizes"
        if bad >= 0:
            at = self.offset + 2 * int(self.edges[bad])
            raise FrameError(at, f"a rANS segment of {share} letters", "other bytes")
        return out


def open_coded(data: memoryview, alphabet: int, entries: int, *, offset: int) -> ClassCoded:
    """Read everything but the symbols themselves."""
    size, begin = read_varint(data, 0, offset)
    if size > len(data) - begin:
        raise FrameError(offset, f"{size} bytes of side information", len(data) - begin)
    reader = Reader(data[begin : begin + size], offset=offset + begin)
    levels = read_levels(reader, entries)
    tables = read_tables(reader, levels, alphabet, entries)
    reader.finish()
    at = begin + size
    if len(data) - at < COUNT.size:
        raise FrameError(offset + at, f"{COUNT.size} bytes of coder fields", len(data) - at)
    (segments,) = COUNT.unpack_from(data, at)
    letters = tables.letters
    if not segments or share_of(letters, segments) * (segments - 1) >= letters:
        raise FrameError(offset + at, "no empty segment", segments)
    edges, first = edges_of(data, at + COUNT.size, segments, 2, offset)
    body = np.frombuffer(data, dtype=np.uint8)[first:]
    return ClassCoded(levels, tables, alphabet, entries, at, body, edges, offset + first)
