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
from lossyfl.kernels.classes import scatter_keys
from lossyfl.kernels.model import entropy
from lossyfl.types import Counts, GivenLevels, Symbols, Vector
from lossyfl.wire.body import PIECE_ENTRIES, edges_of, share_of
from lossyfl.wire.class_plan import ClassPlan, plan
from lossyfl.wire.class_side import Levels, Tables, read_levels, read_tables
from lossyfl.wire.numbers import Reader
from lossyfl.wire.shapes import Shapes
from lossyfl.wire.tables import read_varint, varint

S = TypeVar("S", bound=np.generic)

COUNT = struct.Struct("<H")
SLACK = 800
"""Bits above the entropy of order 0, which no other code of it takes less than: more is not tried."""


def encode(
    symbols: Symbols,
    counts: Counts,
    shapes: Shapes | None,
    given: GivenLevels | None,
    threads: int,
) -> list[bytes | memoryview]:
    """The symbols, as pieces to be joined; none where that is not expected to be worth it."""
    made = None if shapes is None else plan(symbols, counts, shapes, given)
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
