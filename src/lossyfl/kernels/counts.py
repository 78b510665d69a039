"""The table of counts as bits, the most significant first: the reference of counts.c.

    number of symbols in use, + 1 (gamma); 0 in use stands for "all equally frequent"
    for each symbol in use, upwards:
        how many unused ones come before it, + 1 (gamma)
        change of the bit length of its count against the last one, zigzag, + 1 (gamma)
        the bits of the count below the leading one, six at the most

gamma is Elias's code: for n of b bits, b - 1 zeros and then n.
"""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.native import native

SIGNIFICANT = 7
FIRST_LENGTH = 16
MAX_LENGTH = 34
MAX_ZEROS = 20
BITS_PER_SYMBOL = 33 + 15 + 6  # the most that one symbol in use can take

Weights = NDArray[np.uint64]


def rounded(counts: NDArray[np.int64]) -> Weights:
    """The counts as the receiver will see them: seven significant bits.

    >>> rounded(np.array([0, 100, 1001])).tolist()
    [0, 100, 1000]
    """
    exact = counts.astype(np.uint64)
    length = np.frexp(counts.astype(np.float64))[1]
    drop = np.maximum(length - SIGNIFICANT, 0).astype(np.uint64)
    half = (np.uint64(1) << drop) >> np.uint64(1)
    return (exact + half) >> drop << drop


def table_room(alphabet: int) -> int:
    """The most bytes that a table of so many symbols takes."""
    return (alphabet * BITS_PER_SYMBOL + 64) // 8


@native("u64[] u8[]! -> i")
def write_counts(weights: Weights, out: NDArray[np.uint8]) -> int:
    """Write rounded counts; returns the number of bytes, -1 if there is no room or one is too large."""
    used = np.flatnonzero(weights).tolist()
    bits = [_gamma(len(used) + 1)]
    last, last_length = -1, FIRST_LENGTH
    for symbol in used:
        weight = int(weights[symbol])
        length = weight.bit_length()
        if length > MAX_LENGTH:
            return -1
        change = length - last_length
        kept = min(length, SIGNIFICANT)
        bits += [
            _gamma(symbol - last),
            _gamma((2 * change if change >= 0 else -2 * change - 1) + 1),
        ]
        bits.append(f"{weight:b}"[1:kept])
        last, last_length = symbol, length
    text = "".join(bits)
    size = -(-len(text) // 8)
    if size > len(out):
        return -1
    out[:size] = np.frombuffer(int(text.ljust(8 * size, "0"), 2).to_bytes(size, "big"), np.uint8)
    return size


def _gamma(n: int) -> str:
    return "0" * (n.bit_length() - 1) + f"{n:b}"


@native("u8[] u64[]! -> i")
def read_counts(data: NDArray[np.uint8], weights: Weights) -> int:
    """Fill `weights`; returns the number of bits read, or -1 if they are not a table."""
    weights[:] = 0
    bits = _Bits(data[: table_room(len(weights)) + 8])
    used = bits.gamma()
    if used < 1 or used - 1 > len(weights):
        return -1
    symbol, length = -1, FIRST_LENGTH
    for _ in range(used - 1):
        gap = bits.gamma()
        zigzag = bits.gamma() if gap >= 1 else -1
        if zigzag < 1:
            return -1
        symbol += gap
        length += -(zigzag // 2) if zigzag % 2 == 0 else zigzag // 2
        if symbol >= len(weights) or not 1 <= length <= MAX_LENGTH:
            return -1
        kept = min(length, SIGNIFICANT)
        below = bits.take(kept - 1)
        if below < 0:
            return -1
        weights[symbol] = ((1 << (kept - 1)) | below) << (length - kept)
    return bits.at


class _Bits:
    """Bits read one after the other."""

    def __init__(self, data: NDArray[np.uint8]) -> None:
        self._text = "".join(f"{byte:08b}" for byte in data.tolist())
        self.at = 0

    def take(self, bits: int) -> int:
        """The next `bits` bits as a number, or -1 where the data ends."""
        if self.at + bits > len(self._text):
            return -1
        self.at += bits
        return int(self._text[self.at - bits : self.at] or "0", 2)

    def gamma(self) -> int:
        """The next gamma code, or -1."""
        one = self._text.find("1", self.at, self.at + MAX_ZEROS + 1)
        if one < 0:
            return -1
        zeros, self.at = one - self.at, one
        return self.take(zeros + 1)
