"""The symbols of a frame: the smallest of three codes, in segments that threads share.

    radix   the packed symbols
    rans    group u8, segments u16, counts, u32 words of each segment but the last, segments

A segment holds an equal share of the letters (the last may be shorter), in multiples of 4, and is
coded for itself. Group 0 is the wide coder. With one symbol in use there is nothing to code, and
there are no segments.
"""

import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import FrameError, InputError
from lossyfl.kernels import parallel
from lossyfl.kernels import plan as planning
from lossyfl.kernels.counts import table_room
from lossyfl.kernels.plan import SEGMENT_ENTRIES
from lossyfl.kernels.rans import pop_segments, push_segments
from lossyfl.kernels.short import read_short, room_for, write_short
from lossyfl.kernels.wide import pop_wide, push_wide, starts_of
from lossyfl.types import Counts, Symbols, UniformTable, Vector, symbol_type
from lossyfl.wire import counts as wire_counts
from lossyfl.wire.histogram import entropy
from lossyfl.wire.model import MAX_LETTERS, Frequencies, Model

S = TypeVar("S", bound=np.generic)

PREAMBLE = struct.Struct("<BH")
STATE_WORDS = 8
PIECE_ENTRIES = 1 << 19
"""Encoded at a time by every thread: few calls, and a buffer that is short beside the vector."""


@dataclass(slots=True)
class Plan:
    """How to code symbols with given counts by rANS, and what it will take.

    table:    the bytes of the counts
    segments: how many pieces are coded for themselves
    nbytes:   the expected size of the whole
    """

    model: Model
    table: bytes
    segments: int
    nbytes: int


def plan(counts: Counts) -> Plan:
    """The smaller of two models: the counts themselves, or all symbols equally frequent."""
    alphabet = len(counts)
    weights = np.empty(alphabet, dtype=np.uint64)
    table = np.empty(table_room(alphabet), dtype=np.uint8)
    frequencies = np.empty(max(alphabet, MAX_LETTERS), dtype=np.uint64)
    found = np.empty(4, dtype=np.int64)
    if planning.plan(counts, weights, table, frequencies, found) < 0:
        allowed = f"counts >= 0 that sum to at most {planning.MAX_TOTAL}"
        raise InputError("counts", of="Quantized", allowed=allowed, got=counts)
    group, segments, nbytes, size = found.tolist()
    model = Model(group, frequencies[: alphabet ** (group or 1)])
    return Plan(model, table[:size].tobytes(), segments, nbytes)


def _word(group: int) -> int:
    """Bytes of a word of the coder."""
    return 2 if group else 4


def share_of(letters: int, segments: int) -> int:
    """Letters of every segment but the last."""
    return -(-letters // (4 * segments)) * 4


def encode_short(symbols: Symbols, counts: Counts, limit: int) -> memoryview | None:
    """All of a short body in one call; None if it is none, or not planned to be below `limit` bytes."""
    alphabet = len(counts)
    if len(symbols) >= 2 * SEGMENT_ENTRIES or alphabet > MAX_LETTERS:
        return None
    words = np.empty(_room_for(len(symbols), alphabet), dtype=np.uint8)
    begin = write_short(symbols, counts, limit, words)
    return None if begin < 0 else words.data[begin:]


_room_for = lru_cache(maxsize=8)(room_for)


def encode(
    symbols: Symbols, alphabet: int, counts: Counts, plan: Plan, threads: int
) -> list[bytes | memoryview]:
    """The symbols by rANS, as pieces to be joined."""
    model, segments = plan.model, plan.segments
    head: list[bytes | memoryview] = [PREAMBLE.pack(model.group, segments), plan.table]
    if not segments:
        return head
    group, word = model.group or 1, _word(model.group)
    share = share_of(-(-len(symbols) // group), segments)
    width = (share + 1 + STATE_WORDS) * word
    at_once = min(segments, max(1, threads * PIECE_ENTRIES // (share * group)))
    buffer, begins = np.empty(at_once * width, dtype=np.uint8), np.empty(at_once, dtype=np.int64)
    filler = int(counts.argmax())
    starts = None if model.group else starts_of(model.frequencies)
    coded: list[bytes | memoryview] = []
    for start in range(0, segments, at_once):
        own = symbols[start * share * group : (start + at_once) * share * group]
        count = min(at_once, segments - start)
        words, first = buffer[: count * width], begins[:count]
        parallel.wake(threads)
        if starts is None:
            coding = alphabet, group, filler, model.frequencies
            done = push_segments(own, *coding, share, threads, words, first)
        else:
            done = push_wide(own, starts, share, threads, words, first)
        if done < 0:
            raise InputError("symbols", of="Quantized", allowed="counted in counts", got="others")
        rows = zip(range(0, len(words), width), first.tolist(), strict=True)
        own_words = [words[row + begin : row + width].data for row, begin in rows]
        coded += own_words if at_once == segments else map(bytes, own_words)
    lengths = struct.pack(f"<{segments - 1}I", *(len(segment) // word for segment in coded[:-1]))
    return [*head, lengths, *coded]


@dataclass(slots=True)
class Coded:
    """Symbols coded by rANS, opened but not yet decoded.

    model, alphabet, entries: as they were coded
    weights: the rounded counts of symbols
    data:   the bytes of all segments
    edges:  segment i is the words [edges[i], edges[i + 1])
    offset: where the first segment stands in the frame
    """

    model: Model
    weights: Frequencies
    alphabet: int
    entries: int
    data: NDArray[np.uint8]
    edges: NDArray[np.int64]
    offset: int

    classes: ClassVar[int] = 0
    side: ClassVar[int] = 0
    """Symbols are coded alike wherever they are."""

    def letters(self, threads: int) -> Symbols:
        """The letters alone: all that can be wrong with the segments shows here."""
        if not self.model.group:
            return self.symbols(threads)
        out = np.empty(-(-self.entries // self.group), dtype=np.uint8)
        alphabet = len(self.model.frequencies)
        if not self.segments:
            out.fill(self.model.frequencies.argmax())
        else:
            self._fill(out, np.arange(alphabet, dtype=np.uint8), alphabet, 1, threads)
        return out

    def symbols(self, threads: int) -> Symbols:
        """The symbols themselves."""
        return self._looked_up(_symbols(self.alphabet), threads)

    def values(self, row: Vector, threads: int) -> Vector:
        """`row[symbol]` for every symbol, straight from the coder."""
        return self._looked_up(row, threads)

    def _looked_up(self, row: NDArray[S], threads: int) -> NDArray[S]:
        out = np.empty(self.entries, dtype=row.dtype)
        if not self.segments:
            out.fill(row[self.weights.argmax()])
        else:
            self._fill(out, row, self.alphabet, self.group, threads)
        return out

    @property
    def group(self) -> int:
        """Symbols per letter."""
        return self.model.group or 1

    @property
    def segments(self) -> int:
        """The number of segments."""
        return len(self.edges) - 1

    def entropy(self) -> float:
        """The entropy of the symbols by the counts that the frame carries, in bits."""
        weights = self.weights.astype(np.int64)
        return entropy(weights) * self.entries / int(weights.sum())

    def _fill(
        self,
        out: NDArray[np.generic],
        row: NDArray[np.generic],
        alphabet: int,
        group: int,
        threads: int,
    ) -> None:
        """`row[digit]` for every one of the `group` digits of every letter."""
        share = share_of(-(-self.entries // self.group), self.segments)
        frequencies = self.model.frequencies
        starts = None if self.model.group else starts_of(frequencies)

        parallel.wake(threads)
        if starts is None:
            coding = frequencies, row, alphabet, group
            bad = pop_segments(self.data, self.edges, *coding, share, threads, out)
        else:
            bad = pop_wide(self.data, self.edges, starts, row, share, threads, out)
        assert bad >= -1, "a coder that was given wrong sizes"
        if bad >= 0:
            at = self.offset + int(self.edges[bad]) * _word(self.model.group)
            raise FrameError(at, f"a rANS segment of {share} letters", "other bytes")


@lru_cache(maxsize=8)
def _symbols(alphabet: int) -> Symbols:
    return np.arange(alphabet, dtype=symbol_type(alphabet))


def decode_short(
    data: memoryview, alphabet: int, table: UniformTable, entries: int
) -> Vector | None:
    """All values of a short body in one call; None if it is none, or wrong, which `open_coded` then says."""
    if entries >= 2 * SEGMENT_ENTRIES or alphabet > MAX_LETTERS:
        return None
    out = np.empty(entries, dtype=np.float32)
    low, high = table.low.item(), table.high.item()
    done = read_short(np.frombuffer(data, dtype=np.uint8), alphabet, low, high, out)
    return None if done < 0 else out


def open_coded(data: memoryview, alphabet: int, entries: int, *, offset: int) -> Coded:
    """Read everything of the rANS body but the symbols themselves."""
    if len(data) < PREAMBLE.size:
        raise FrameError(offset, f"{PREAMBLE.size} bytes of coder fields", len(data))
    group, segments = PREAMBLE.unpack_from(data)
    if alphabet**group > MAX_LETTERS:
        raise FrameError(offset, f"letters of {alphabet} symbols that fit a byte", group)
    at = PREAMBLE.size
    body = np.frombuffer(data, dtype=np.uint8)
    weights = np.empty(alphabet, dtype=np.uint64)
    frequencies = np.empty(alphabet ** (group or 1), dtype=np.uint64)
    size = planning.open_model(body[at:], group, weights, frequencies)
    if size < 0:
        raise wire_counts.refused(alphabet, offset + at)
    at += size
    if (np.count_nonzero(weights) == 1) != (segments == 0):
        raise FrameError(offset + 1, "segments if and only if several symbols are in use", segments)
    letters = -(-entries // (group or 1))
    if segments and share_of(letters, segments) * (segments - 1) >= letters:
        raise FrameError(offset + 1, "no empty segment", segments)
    edges, begin = edges_of(data, at, segments, _word(group), offset)
    return Coded(
        Model(group, frequencies), weights, alphabet, entries, body[begin:], edges, offset + begin
    )


def edges_of(
    data: memoryview, at: int, segments: int, word: int, offset: int
) -> tuple[NDArray[np.int64], int]:
    """Where segments begin and end, in words, and the byte at which the first begins."""
    listed = max(segments - 1, 0)
    begin = at + 4 * listed
    if begin > len(data):
        raise FrameError(offset + at, f"lengths of {segments} segments", f"{len(data) - at} bytes")
    words, rest = divmod(len(data) - begin, word)
    if segments == 1 and not rest:
        return np.array((0, words), dtype=np.int64), begin
    lengths = struct.unpack_from(f"<{listed}I", data, at)
    if rest or (words and not segments) or sum(lengths) > words:
        raise FrameError(offset + at, "segments that fill the frame", f"{len(data) - begin} bytes")
    edges = np.zeros(segments + 1, dtype=np.int64)
    if segments:
        np.cumsum(lengths, out=edges[1:-1])
        edges[-1] = words
    return edges, begin
