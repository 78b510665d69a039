"""Interleaved rANS over single symbols of a large alphabet: 64-bit states, 32-bit words.

The same recursion as `rans`, with frequencies of 28 bits: fine enough for 65,536 symbols, of which
thousands may be rare. 2^31 <= x < 2^63 between steps. It divides, and finds a symbol by bisection
between two entries of a guide table, so it is slower; it runs only where `rans` would waste bits.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from lossyfl.jit import kernel
from lossyfl.types import Symbols
from lossyfl.wire.model import WIDE_BITS, Model

STATE_WORDS = 8
LOWEST = 1 << 31
GUIDE_BITS = 12

Words = NDArray[np.uint32]
U = np.uint64


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """Per symbol: frequency and start."""

    frequency: NDArray[np.uint64]
    start: NDArray[np.uint64]

    word: ClassVar[np.dtype[np.uint32]] = np.dtype("<u4")

    @classmethod
    def of(cls, model: Model) -> "Encoder":
        """The table that pushes symbols of the model."""
        f = model.frequencies
        return cls(frequency=f, start=np.cumsum(f) - f)

    def segments(
        self, symbols: Symbols, share: int, words: Words, first: NDArray[np.int64]
    ) -> None:
        """Code every `share` symbols as one segment, as `rans.Encoder.segments` does."""
        _push_segments(symbols, share, self.frequency, self.start, words, first)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoder:
    """Starts of all symbols, and for each of 2^12 equal ranges of slots the symbols it touches."""

    edges: NDArray[np.uint64]
    guide: NDArray[np.int64]

    word: ClassVar[np.dtype[np.uint32]] = np.dtype("<u4")

    @classmethod
    def of(cls, model: Model) -> "Decoder":
        """The table that pops symbols of the model."""
        edges = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(model.frequencies)])
        marks = np.arange((1 << GUIDE_BITS) + 1, dtype=np.uint64) << U(WIDE_BITS - GUIDE_BITS)
        guide = np.searchsorted(edges, marks, side="right") - 1
        return cls(edges=edges, guide=guide.astype(np.int64))

    def segments(self, words: Words, edges: NDArray[np.int64], share: int, symbols: Symbols) -> int:
        """Fill `symbols` from segments, as `rans.Decoder.segments` does."""
        return _pop_segments(words, edges, self.edges, self.guide, share, symbols)


@kernel
def _push_all(
    symbols: Symbols,
    frequency: NDArray[np.uint64],
    start: NDArray[np.uint64],
    words: Words,
    states: NDArray[np.uint64],
) -> int:
    """All symbols, last to first; returns the index of the first word in use."""
    at = len(words)
    for i in range(len(symbols) - 1, -1, -1):
        x = states[i & 3]
        f = frequency[symbols[i]]
        if x >= f << U(63 - WIDE_BITS):
            at -= 1
            words[at] = np.uint32(x & U(0xFFFFFFFF))
            x = x >> U(32)
        quotient = x // f
        states[i & 3] = (quotient << U(WIDE_BITS)) + (x - quotient * f) + start[symbols[i]]
    return at


@kernel
def _push_segments(
    symbols: Symbols,
    share: int,
    frequency: NDArray[np.uint64],
    start: NDArray[np.uint64],
    words: Words,
    first: NDArray[np.int64],
) -> None:
    """One segment a row of `words`, its states just before its words."""
    states = np.empty(4, dtype=np.uint64)
    for segment in range(len(first)):
        states[:] = U(LOWEST)
        own = symbols[segment * share : (segment + 1) * share]
        at = _push_all(own, frequency, start, words[segment], states) - STATE_WORDS
        for i in range(4):
            words[segment, at + 2 * i] = np.uint32(states[i] & U(0xFFFFFFFF))
            words[segment, at + 2 * i + 1] = np.uint32(states[i] >> U(32))
        first[segment] = at


@kernel
def _pop_all(
    words: Words,
    states: NDArray[np.uint64],
    edges: NDArray[np.uint64],
    guide: NDArray[np.int64],
    symbols: Symbols,
) -> bool:
    """All symbols, first to last; False if words run out, are left, or states end elsewhere."""
    at = 0
    mask = U((1 << WIDE_BITS) - 1)
    for i in range(len(symbols)):
        x = states[i & 3]
        slot = x & mask
        low = guide[slot >> U(WIDE_BITS - GUIDE_BITS)]
        high = guide[(slot >> U(WIDE_BITS - GUIDE_BITS)) + U(1)]
        while low < high:
            middle = (low + high + 1) >> 1
            if edges[middle] <= slot:
                low = middle
            else:
                high = middle - 1
        symbols[i] = low
        x = (edges[low + 1] - edges[low]) * (x >> U(WIDE_BITS)) + slot - edges[low]
        if x < U(LOWEST):
            if at == len(words):
                return False
            x = (x << U(32)) | U(words[at])
            at += 1
        states[i & 3] = x
    for state in states:
        if state != U(LOWEST):
            return False
    return at == len(words)


@kernel
def _pop_segments(
    words: Words,
    edges: NDArray[np.int64],
    starts: NDArray[np.uint64],
    guide: NDArray[np.int64],
    share: int,
    symbols: Symbols,
) -> int:
    """All segments of `edges`; returns the first that is not what an encoder wrote, or -1."""
    states = np.empty(4, dtype=np.uint64)
    for segment in range(len(edges) - 1):
        own = words[edges[segment] : edges[segment + 1]]
        if len(own) < STATE_WORDS:
            return segment
        for i in range(4):
            states[i] = U(own[2 * i]) | U(own[2 * i + 1]) << U(32)
            if states[i] < U(LOWEST) or states[i] >> U(63) != U(0):
                return segment
        target = symbols[segment * share : (segment + 1) * share]
        if not _pop_all(own[STATE_WORDS:], states, starts, guide, target):
            return segment
    return -1
