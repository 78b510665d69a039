"""The symbols of a frame: the smallest of three codes, in segments that threads share.

    radix   the packed symbols
    rans    group u8, segments u16, counts, u32 length of each segment but the last, segments

A segment holds an equal share of the letters (the last may be shorter), in multiples of 4, and is
coded for itself. Group 0 is the wide coder. With one symbol in use there is nothing to code, and
there are no segments.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

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
    states = rans.STATE_BYTES if model.group else wide.STATE_BYTES
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

    All buffers are made here: memory that a thread allocates for itself is handed back to the
    system and mapped anew every time, which costs more than the coding.
    """
    group = plan.model.group or 1
    coder = (rans.Encoder if plan.model.group else wide.Encoder).of(plan.model)
    total = -(-len(symbols) // group)
    share = _share(total, max(plan.segments, 1))
    letters = np.empty(total, dtype=np.uint8) if group > 1 else symbols
    words = np.empty(total + plan.segments, dtype=coder.word)
    filler = int(np.argmax(counts))

    def segment(index: int) -> tuple[bytes, memoryview]:
        start, stop = index * share, min((index + 1) * share, total)
        if group > 1:
            own = symbols[start * group : stop * group]
            gather(own, alphabet, group, filler, letters[start:stop])
        return coder.segment(letters[start:stop], words[start + index : stop + index + 1])  # pyright: ignore

    coded = parallel.run(segment, range(plan.segments), threads)
    lengths = [len(states) + words.nbytes for states, words in coded[:-1]]
    head = PREAMBLE.pack(plan.model.group, plan.segments)
    listed = struct.pack(f"<{len(lengths)}I", *lengths)
    return [head, plan.table, listed, *(piece for pair in coded for piece in pair)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Coded:
    """Symbols coded by rANS, opened but not yet decoded.

    model, alphabet, entries: as they were coded
    segments: the bytes of every segment
    offset:   where the first segment stands in the frame
    """

    model: models.Model
    alphabet: int
    entries: int
    segments: list[memoryview]
    offset: int

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

    def _each(self, use: Callable[[int, int, Symbols], None], threads: int) -> None:
        """Decode all segments; `use(start, stop, letters)` sees each one's letters while warm."""
        group = self.group
        kind = symbol_type(self.alphabet)
        total = -(-self.entries // group)
        if not self.segments:
            letters = np.full(total, np.flatnonzero(self.model.frequencies)[0], dtype=kind)
            use(0, self.entries, letters)
            return
        coder = (rans.Decoder if self.model.group else wide.Decoder).of(self.model)
        share = _share(total, len(self.segments))
        letters = np.empty(total, dtype=kind)

        def segment(index: int) -> None:
            own = letters[index * share : (index + 1) * share]
            if not coder.segment(bytes(self.segments[index]), own):  # pyright: ignore
                at = self.offset + sum(len(piece) for piece in self.segments[:index])
                raise FrameError(at, f"a rANS segment of {len(own)} letters", "other bytes")
            start = index * share * group
            use(start, min(start + share * group, self.entries), own)

        parallel.run(segment, range(len(self.segments)), threads)


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
    if (np.count_nonzero(weights) == 1) != (segments == 0) or segments > max(entries, 1):
        raise FrameError(offset + 1, "segments if and only if several symbols are in use", segments)
    pieces, at = _split(data, at, segments, offset)
    letters = -(-entries // (group or 1))
    if segments and _share(letters, segments) * (segments - 1) >= letters:
        raise FrameError(offset + 1, "no empty segment", segments)
    model = models.build(weights, group)
    return Coded(
        model=model, alphabet=alphabet, entries=entries, segments=pieces, offset=offset + at
    )


def _split(data: memoryview, at: int, segments: int, offset: int) -> tuple[list[memoryview], int]:
    """The bytes of every segment, and where the first begins."""
    listed = max(segments - 1, 0)
    begin = at + 4 * listed
    if begin > len(data):
        raise FrameError(offset + at, f"lengths of {segments} segments", f"{len(data) - at} bytes")
    lengths = struct.unpack_from(f"<{listed}I", data, at)
    edges = [begin, *(begin + int(n) for n in np.cumsum(lengths, dtype=np.int64)), len(data)]
    if edges[-2] > len(data) or (segments == 0 and begin != len(data)):
        raise FrameError(offset + at, "segments that fill the frame", f"{len(data)} bytes")
    if segments == 0:
        return [], begin
    return [data[a:b] for a, b in pairwise(edges)], begin
