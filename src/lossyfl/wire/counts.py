"""The counts of symbols on the wire: seven significant bits each, a few bits per symbol in use.

A coder needs proportions only. Rounding every count to seven significant bits moves no probability
by more than 0.8 %, which lengthens the code by about 0.002 % and makes the cost of the table
independent of the length of the vector. As bits, the most significant first:

    number of symbols in use, + 1 (gamma); 0 in use stands for "all equally frequent"
    for each symbol in use, upwards:
        how many unused ones come before it, + 1 (gamma)
        change of the bit length of its count against the last one, zigzag, + 1 (gamma)
        the bits of the count below the leading one, six at the most

gamma is Elias's code: for n of b bits, b - 1 zeros and then n.
"""

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import FrameError
from lossyfl.jit import kernel
from lossyfl.types import Counts
from lossyfl.wire.model import Frequencies

SIGNIFICANT = 7
FIRST_LENGTH = 16
MAX_LENGTH = 34
MAX_TOTAL = 1 << 34  # so that 28 more bits fit the 64 of `model.normalise`
BITS_PER_SYMBOL = 33 + 15 + 6  # the most that one symbol in use can take


def rounded(counts: Counts) -> Frequencies:
    """The counts as the receiver will see them.

    >>> rounded(np.array([0, 100, 1001])).tolist()
    [0, 100, 1000]
    """
    exact = counts.astype(np.uint64)
    length = np.frexp(counts.astype(np.float64))[1]
    drop = np.maximum(length - SIGNIFICANT, 0).astype(np.uint64)
    half = (np.uint64(1) << drop) >> np.uint64(1)
    return (exact + half) >> drop << drop


def write(weights: Frequencies) -> bytes:
    """The bytes of rounded counts."""
    used = np.flatnonzero(weights)
    out = np.zeros((len(used) * BITS_PER_SYMBOL + 64) // 8, dtype=np.uint8)
    end = _write(used.astype(np.int64), weights[used].astype(np.int64), out)
    return out[: (end + 7) // 8].tobytes()


def write_equal() -> bytes:
    """The bytes that say: all symbols are equally frequent."""
    return b"\x80"


def read(data: memoryview, alphabet: int, *, offset: int) -> tuple[Frequencies, int]:
    """Rounded counts and the number of bytes they took."""
    weights = np.zeros(alphabet, dtype=np.int64)
    end = _read(np.frombuffer(data, dtype=np.uint8), weights)
    if end < 0 or weights.sum() > MAX_TOTAL:
        expected = f"a table of counts for {alphabet} symbols"
        raise FrameError(offset, expected, "one that is cut short, too large, or names others")
    if not weights.any():
        weights[:] = 1
    return weights.astype(np.uint64), (end + 7) // 8


@kernel
def _length(n: int) -> int:
    """Bits of n >= 1."""
    bits = 0
    while n > 0:
        bits += 1
        n >>= 1
    return bits


@kernel
def _put(out: NDArray[np.uint8], at: int, n: int, bits: int) -> int:
    """Write the lower `bits` bits of n; returns the new position."""
    for shift in range(bits - 1, -1, -1):
        out[at >> 3] |= np.uint8(((n >> shift) & 1) << (7 - (at & 7)))
        at += 1
    return at


@kernel
def _write(used: NDArray[np.int64], weights: NDArray[np.int64], out: NDArray[np.uint8]) -> int:
    """Write the table; returns the number of bits."""
    at = _put(out, 0, len(used) + 1, 2 * _length(len(used) + 1) - 1)
    last_symbol = -1
    last_length = FIRST_LENGTH
    for i in range(len(used)):
        gap = used[i] - last_symbol
        at = _put(out, at, gap, 2 * _length(gap) - 1)
        length = _length(weights[i])
        change = length - last_length
        zigzag = 2 * change if change >= 0 else -2 * change - 1
        at = _put(out, at, zigzag + 1, 2 * _length(zigzag + 1) - 1)
        kept = min(length, SIGNIFICANT)
        at = _put(out, at, weights[i] >> (length - kept), kept - 1)
        last_symbol = used[i]
        last_length = length
    return at


@kernel
def _take(data: NDArray[np.uint8], at: int, bits: int) -> int:
    """The next `bits` bits as a number, or -1 where the data ends."""
    if at + bits > 8 * len(data):
        return -1
    n = 0
    for i in range(at, at + bits):
        n = (n << 1) | ((int(data[i >> 3]) >> (7 - (i & 7))) & 1)
    return n


@kernel
def _take_gamma(data: NDArray[np.uint8], at: int) -> int:
    """The next gamma code, or -1; it takes 2 * length - 1 bits."""
    zeros = 0
    while zeros <= 20 and _take(data, at + zeros, 1) == 0:
        zeros += 1
    if zeros > 20:
        return -1
    return _take(data, at + zeros, zeros + 1)


@kernel
def _read(data: NDArray[np.uint8], weights: NDArray[np.int64]) -> int:
    """Fill `weights`; returns the number of bits read, or -1 if they are not a table."""
    used = _take_gamma(data, 0)
    if used < 1 or used - 1 > len(weights):
        return -1
    at = 2 * _length(used) - 1
    symbol = -1
    length = FIRST_LENGTH
    for _ in range(used - 1):
        gap = _take_gamma(data, at)
        zigzag = -1
        if gap >= 1:
            at += 2 * _length(gap) - 1
            zigzag = _take_gamma(data, at)
        if zigzag < 1:
            return -1
        at += 2 * _length(zigzag) - 1
        symbol += gap
        length += -(zigzag // 2) if zigzag % 2 == 0 else zigzag // 2
        if symbol >= len(weights) or length < 1 or length > MAX_LENGTH:
            return -1
        kept = min(length, SIGNIFICANT)
        below = _take(data, at, kept - 1)
        if below < 0:
            return -1
        at += kept - 1
        weights[symbol] = ((1 << (kept - 1)) | below) << (length - kept)
    return at
