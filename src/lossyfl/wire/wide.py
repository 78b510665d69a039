"""Interleaved rANS over single symbols of a large alphabet: 64-bit states, 32-bit words.

The same recursion as `rans`, with frequencies of 24 bits: fine enough for 65,536 symbols, of which
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

STATE_BYTES = 32
LOWEST = 1 << 31
GUIDE_BITS = 12

U = np.uint64


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoder:
    """Per symbol: frequency and start."""

    frequency: NDArray[np.uint64]
    start: NDArray[np.uint64]

    word: ClassVar[str] = "<u4"

    @classmethod
    def of(cls, model: Model) -> "Encoder":
        """The table that pushes symbols of the model."""
        f = model.frequencies
        return cls(frequency=f, start=np.cumsum(f) - f)

    def segment(self, symbols: Symbols, words: NDArray[np.uint32]) -> tuple[bytes, memoryview]:
        """States and words of a segment, the latter in `words`: as many as symbols at the most."""
        states = np.full(4, LOWEST, dtype=np.uint64)
        first = _push_all(symbols, self.frequency, self.start, words, states)
        return states.astype("<u8").tobytes(), words[first:].data


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoder:
    """Starts of all symbols, and for each of 2^12 equal ranges of slots the symbols it touches."""

    edges: NDArray[np.uint64]
    guide: NDArray[np.int64]

    @classmethod
    def of(cls, model: Model) -> "Decoder":
        """The table that pops symbols of the model."""
        edges = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(model.frequencies)])
        marks = np.arange((1 << GUIDE_BITS) + 1, dtype=np.uint64) << U(WIDE_BITS - GUIDE_BITS)
        guide = np.searchsorted(edges, marks, side="right") - 1
        return cls(edges=edges, guide=guide.astype(np.int64))

    def segment(self, data: bytes, symbols: Symbols) -> bool:
        """Fill `symbols` from a segment; False if the bytes are not what an encoder wrote."""
        if len(data) < STATE_BYTES or len(data) % 4:
            return False
        states = np.frombuffer(data, dtype="<u8", count=4).astype(np.uint64)
        words = np.frombuffer(data, dtype="<u4")[STATE_BYTES // 4 :]
        return _pop_all(words, states, self.edges, self.guide, symbols)


@kernel
def _push_all(
    symbols: Symbols,
    frequency: NDArray[np.uint64],
    start: NDArray[np.uint64],
    words: NDArray[np.uint32],
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
def _pop_all(
    words: NDArray[np.uint32],
    states: NDArray[np.uint64],
    edges: NDArray[np.uint64],
    guide: NDArray[np.int64],
    symbols: Symbols,
) -> bool:
    """All symbols, first to last; False if words run out, are left, or states end elsewhere."""
    for state in states:
        if state < U(LOWEST) or state >> U(63) != U(0):
            return False
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
