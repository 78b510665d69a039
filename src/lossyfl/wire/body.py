"""The symbols of a frame: the smallest of three codes, in segments that threads share.

    radix   the packed symbols
    rans    group u8, segments u16, counts, u32 words of each segment but the last, segments

A segment holds an equal share of the letters (the last may be shorter), in multiples of 4, and is
coded for itself. Group 0 is the wide coder. With one symbol in use there is nothing to code, and
there are no segments.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lossyfl import parallel
from lossyfl.errors import FrameError
from lossyfl.types import Counts, Symbols, Vector, symbol_type
from lossyfl.wire import counts as wire_counts
from lossyfl.wire import model as models
from lossyfl.wire import rans, wide
from lossyfl.wire.letters import digit_table, gather, scatter

PREAMBLE = struct.Struct("<BH")
SEGMENT_ENTRIES = 1 << 16  # no segment has fewer entries, and
SEGMENT_BYTES = 5000  # none is expected to be shorter: one costs about 16 bytes more
MAX_SEGMENTS = 1 << 15
PIECE_ENTRIES = (
    1 << 19
)  # decoded or encoded at a time: few calls, and letters that stay in the cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How to code symbols with given counts by rANS, and what it will take.

    table:    the bytes of the counts
    segments: how many pieces are coded for themselves
    nbytes:   the expected size of the whole
    """

    model: models.Model
    table: bytes
    segments: int
    nbytes: int


def plan(counts: Counts) -> Plan:
    """The smaller of two models: the counts themselves, or all symbols equally frequent."""
    weights = wire_counts.rounded(counts)
    shaped = _plan(weights, counts, wire_counts.write(weights))
    equal = np.ones_like(weights)
    # Equal frequencies can only win where the table of counts costs more than it saves.
    if np.log2(len(counts)) * int(counts.sum()) / 8 > shaped.nbytes:
        return shaped
    return min(shaped, _plan(equal, counts, wire_counts.write_equal()), key=lambda p: p.nbytes)


def _plan(weights: models.Frequencies, counts: Counts, table: bytes) -> Plan:
    entries = int(counts.sum())
    if np.count_nonzero(weights) == 1:
        model = models.build(weights, 0)
        return Plan(model=model, table=table, segments=0, nbytes=PREAMBLE.size + len(table))
    model, bits = models.choose(weights, counts)
    share = min(entries // SEGMENT_ENTRIES, int(bits) // 8 // SEGMENT_BYTES, MAX_SEGMENTS)
    segments = 1 << (max(share, 1).bit_length() - 1)
    coder = rans.Encoder if model.group else wide.Encoder
    states = rans.STATE_WORDS * coder.word.itemsize
    overhead = PREAMBLE.size + len(table) + states * segments + 4 * (segments - 1)
    # A state also holds what it was worth when it was written: about half of its bytes come back.
    nbytes = overhead + int(bits / 8) - states * segments // 2
    return Plan(model=model, table=table, segments=segments, nbytes=nbytes)


def _share(letters: int, segments: int) -> int:
    """Letters of every segment but the last."""
    return -(-letters // (4 * segments)) * 4


def encode(
    symbols: Symbols, alphabet: int, counts: Counts, plan: Plan, threads: int
) -> list[bytes | memoryview]:
    """The symbols by rANS, as pieces to be joined.

    Buffers are made here, one set for each thread: memory that a thread allocates for itself is
    handed back to the system and mapped anew every time, which costs more than the coding.
    """
    head: list[bytes | memoryview] = [PREAMBLE.pack(plan.model.group, plan.segments), plan.table]
    if not plan.segments:
        return head
    group = plan.model.group or 1
    coder = (rans.Encoder if plan.model.group else wide.Encoder).of(plan.model)
    share = _share(-(-len(symbols) // group), plan.segments)
    filler = int(np.argmax(counts))
    runs = parallel.split(plan.segments, PIECE_ENTRIES // (share * group), threads)
    most = max(len(run) for run in runs)
    buffers = [
        _Buffers(
            letters=np.empty(most * share if group > 1 else 0, dtype=np.uint8),
            words=np.empty((most, share + 1 + rans.STATE_WORDS), dtype=coder.word),
            first=np.empty(most, dtype=np.int64),
        )
        for _ in range(min(threads, len(runs)))
    ]

    def code(run: range) -> list[bytes]:
        own = symbols[run.start * share * group : run.stop * share * group]
        mine = buffers.pop()
        letters = own
        if group > 1:
            letters = mine.letters[: -(-len(own) // group)]
            gather(own, alphabet, group, filler, letters)
        rows, first = mine.words[: len(run)], mine.first[: len(run)]
        coder.segments(letters, share, rows, first)  # pyright: ignore
        coded = [row[start:].tobytes() for row, start in zip(rows, first.tolist(), strict=True)]
        buffers.append(mine)
        return coded

    coded = [segment for run in parallel.run(code, runs, threads) for segment in run]
    lengths = [len(segment) // coder.word.itemsize for segment in coded[:-1]]
    return [*head, np.array(lengths, dtype="<u4").tobytes(), *coded]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Buffers:
    """Room for one run of segments: letters, words of every segment, and where each begins."""

    letters: NDArray[np.uint8]
    words: NDArray[np.uint16 | np.uint32]
    first: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coded:
    """Symbols coded by rANS, opened but not yet decoded.

    model, alphabet, entries: as they were coded
    weights: the rounded counts of symbols
    words:  of all segments
    edges:  segment i is words[edges[i] : edges[i + 1]]
    offset: where the first segment stands in the frame
    """

    model: models.Model
    weights: models.Frequencies
    alphabet: int
    entries: int
    words: NDArray[np.uint16 | np.uint32]
    edges: NDArray[np.int64]
    offset: int

    def letters(self, threads: int) -> Symbols:
        """The letters alone: all that can be wrong with the segments shows here."""
        return self._each(_leave, threads)

    def symbols(self, threads: int) -> Symbols:
        """The symbols themselves."""
        out = np.empty(self.entries, dtype=symbol_type(self.alphabet))
        self._each(_scatter_into(out, digit_table(self.alphabet, self.group)), threads)
        return out

    def values(self, row: NDArray[np.float32], threads: int) -> Vector:
        """`row[symbol]` for every symbol, straight from the letters."""
        out = np.empty(self.entries, dtype=np.float32)
        self._each(_scatter_into(out, row[digit_table(self.alphabet, self.group)]), threads)
        return out

    @property
    def group(self) -> int:
        """Symbols per letter."""
        return self.model.group or 1

    @property
    def segments(self) -> int:
        """The number of segments."""
        return len(self.edges) - 1

    def _each(self, use: Callable[[int, int, Symbols], None], threads: int) -> Symbols:
        """All letters; `use(start, stop, letters)` sees each part while it is warm."""
        total = -(-self.entries // self.group)
        letters = np.empty(total, dtype=symbol_type(self.alphabet))
        if not self.segments:
            letters.fill(np.flatnonzero(self.model.frequencies)[0])
            use(0, self.entries, letters)
            return letters
        coder = (rans.Decoder if self.model.group else wide.Decoder).of(self.model)
        share = _share(total, self.segments)

        def decode(run: range) -> None:
            own = letters[run.start * share : run.stop * share]
            edges = self.edges[run.start : run.stop + 1]
            bad = coder.segments(self.words, edges, share, own)  # pyright: ignore
            if bad >= 0:
                at = self.offset + int(edges[bad]) * self.words.itemsize
                raise FrameError(at, f"a rANS segment of {share} letters", "other bytes")
            start = run.start * share * self.group
            use(start, min(start + len(own) * self.group, self.entries), own)

        runs = parallel.split(self.segments, PIECE_ENTRIES // (share * self.group), threads)
        parallel.run(decode, runs, threads)
        return letters


def _leave(start: int, stop: int, letters: Symbols) -> None:
    """No use of letters."""
    del start, stop, letters


def _scatter_into(
    out: NDArray[np.generic], digits: NDArray[np.generic]
) -> Callable[[int, int, Symbols], None]:
    """A use of letters: their digits go to their places in `out`."""

    def use(start: int, stop: int, letters: Symbols) -> None:
        scatter(letters, digits, out[start:stop])

    return use


def open_coded(data: memoryview, alphabet: int, entries: int, *, offset: int) -> Coded:
    """Read everything of the rANS body but the symbols themselves."""
    if len(data) < PREAMBLE.size:
        raise FrameError(offset, f"{PREAMBLE.size} bytes of coder fields", len(data))
    group, segments = PREAMBLE.unpack_from(data)
    if alphabet**group > models.MAX_LETTERS:
        raise FrameError(offset, f"letters of {alphabet} symbols that fit a byte", group)
    at = PREAMBLE.size
    weights, size = wire_counts.read(data[at:], alphabet, offset=offset + at)
    at += size
    if (np.count_nonzero(weights) == 1) != (segments == 0):
        raise FrameError(offset + 1, "segments if and only if several symbols are in use", segments)
    letters = -(-entries // (group or 1))
    if segments and _share(letters, segments) * (segments - 1) >= letters:
        raise FrameError(offset + 1, "no empty segment", segments)
    word = (rans.Decoder if group else wide.Decoder).word
    edges, begin = _edges(data, at, segments, word.itemsize, offset)
    return Coded(
        model=models.build(weights, group),
        weights=weights,
        alphabet=alphabet,
        entries=entries,
        words=np.frombuffer(bytes(data[begin:]), dtype=word),  # a copy, for its alignment
        edges=edges,
        offset=offset + begin,
    )


def _edges(
    data: memoryview, at: int, segments: int, word: int, offset: int
) -> tuple[NDArray[np.int64], int]:
    """Where segments begin and end, in words, and the byte at which the first begins."""
    listed = max(segments - 1, 0)
    begin = at + 4 * listed
    if begin > len(data):
        raise FrameError(offset + at, f"lengths of {segments} segments", f"{len(data) - at} bytes")
    words, rest = divmod(len(data) - begin, word)
    lengths = np.frombuffer(data, dtype="<u4", count=listed, offset=at).astype(np.int64)
    if rest or (words and not segments) or lengths.sum() > words:
        raise FrameError(offset + at, "segments that fill the frame", f"{len(data) - begin} bytes")
    inner = np.cumsum(lengths)
    return np.array([0, *inner, words] if segments else [0], dtype=np.int64), begin
