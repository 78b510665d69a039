"""Interleaved rANS over single symbols of a large alphabet: 64-bit states, 32-bit words; wide.c's reference.

The same recursion as in `rans`, with frequencies of 28 bits: fine enough for 65,536 symbols, of which
thousands may be rare. 2^31 <= x < 2^63 between steps. The library divides, and finds a symbol by bisection
between two entries of a guide table, so it is slower; it runs only where `rans` would waste bits.
"""

from bisect import bisect_right

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.model import WIDE_BITS
from lossyfl.kernels.native import native

LOWEST = 1 << 31

Symbols = NDArray[np.uint8 | np.uint16]
Bytes = NDArray[np.uint8]
Edges = NDArray[np.int64]
Starts = NDArray[np.uint32]


def starts_of(frequencies: NDArray[np.uint64]) -> Starts:
    """The sums of the frequencies before every symbol, and of all."""
    starts = np.zeros(len(frequencies) + 1, dtype=np.uint32)
    np.cumsum(frequencies, out=starts[1:], dtype=np.uint32)
    return starts


def _fits(starts: Starts) -> bool:
    rising = bool((starts[1:] >= starts[:-1]).all())
    return len(starts) >= 2 and starts[0] == 0 and starts[-1] == 1 << WIDE_BITS and rising


@native("s[] u32[] i i u8[]! i64[]! -> i")
def push_wide(
    symbols: Symbols, starts: Starts, share: int, threads: int, words: Bytes, first: Edges
) -> int:
    """Code every `share` symbols as one segment, as `rans` does; -1 if one has no frequency."""
    del threads
    segments, count = len(first), len(symbols)
    if not _fits(starts) or not count or int(symbols.max()) >= len(starts) - 1 or segments < 1:
        return -1
    width = words.size // segments
    if (
        share < 1
        or width // 4 < share + 9
        or not (segments - 1) * share < count <= segments * share
    ):
        return -1
    if (starts[symbols] == starts[symbols.astype(np.int64) + 1]).any():
        return -1
    edges, rows = starts.tolist(), words.reshape(-1)
    for i in range(segments):
        data = _push(symbols[i * share : (i + 1) * share].tolist(), edges)
        first[i] = width - len(data)
        rows[i * width + first[i] : (i + 1) * width] = data
    return 0


def _push(symbols: list[int], starts: list[int]) -> Bytes:
    """The states and words of one segment."""
    states, words = [LOWEST] * 4, list[int]()
    for i in range(len(symbols) - 1, -1, -1):
        x, symbol = states[i % 4], symbols[i]
        f = starts[symbol + 1] - starts[symbol]
        if x >= f << (63 - WIDE_BITS):
            words.append(x & 0xFFFFFFFF)
            x >>= 32
        high, low = divmod(x, f)
        states[i % 4] = (high << WIDE_BITS) + low + starts[symbol]
    head = np.array(states, dtype="<u8").view(np.uint8)
    return np.concatenate([head, np.array(words[::-1], dtype="<u4").view(np.uint8)])


@native("u8[] i64[] u32[] b[] i i b[]! -> i")
def pop_wide(
    data: Bytes,
    edges: Edges,
    starts: Starts,
    values: NDArray[np.generic],
    share: int,
    threads: int,
    out: NDArray[np.generic],
) -> int:
    """Fill `out` with `values[symbol]` for every symbol of the segments, as `rans.pop_segments` does."""
    del threads
    segments = len(edges) - 1
    if not _fits(starts) or len(values) != len(starts) - 1 or segments < 1 or share < 1:
        return -2
    if edges[0] < 0 or (np.diff(edges) < 0).any() or edges[-1] > len(data) // 4:
        return -2
    if values.itemsize not in (1, 2, 4) or values.itemsize != out.itemsize:
        return -2
    if not (segments - 1) * share < len(out) <= segments * share:
        return -2
    slots = starts.tolist()
    for i in range(segments):
        target = out[i * share : (i + 1) * share]
        symbols = _pop(data[4 * edges[i] : 4 * edges[i + 1]].tobytes(), len(target), slots)
        if symbols is None:
            return i
        target[:] = values[symbols]
    return -1


def _pop(data: bytes, count: int, starts: list[int]) -> list[int] | None:
    """The symbols of one segment; None if words run out, are left, or states begin or end elsewhere."""
    if len(data) < 32:
        return None
    states: list[int] = np.frombuffer(data, "<u8", 4).tolist()
    words: list[int] = np.frombuffer(data, "<u4", offset=32).tolist()[::-1]
    if min(states) < LOWEST or max(states) >> 63:
        return None
    symbols: list[int] = []
    for i in range(count):
        x = states[i % 4]
        slot = x % (1 << WIDE_BITS)
        symbol = bisect_right(starts, slot) - 1
        x = (starts[symbol + 1] - starts[symbol]) * (x >> WIDE_BITS) + slot - starts[symbol]
        if x < LOWEST:
            if not words:
                return None
            x = x << 32 | words.pop()
        states[i % 4] = x
        symbols.append(symbol)
    return symbols if not words and states == [LOWEST] * 4 else None
