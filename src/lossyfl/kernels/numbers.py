"""Small whole numbers as bits whose chances adapt, coded by one rANS state. The reference of numbers.c.

A number is coded as: whether it is zero, given whether the last one of its family was 0, 1 or more; its
sign, given the last one's; how many bits it has, in unary; and the bits below the leading one, of which
those of numbers below 8 have chances, too. Chances of ones are 16 bits, start at a half, and move towards
each bit by 1 / (1.6 + bits seen so far), from the 30th on by 1 / 31.6.

The coder is rANS with one state of 24 bits and bytes (Duda, arXiv 1311.2540): bits are pushed from the last
to the first, with frequencies that sum to 2^11; a reader that does not end at 2^16 was given other bytes
than were written.
"""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.native import native

FAMILIES = 12
CHANCES = 64
BIT_BITS = 11
BIT_LOWEST = 1 << 16
MOST_LENGTH = 40
FIRST_CHANCE = 1 << 23
STATE = 2 + FAMILIES
_SEEN = 30
_SIGN, _LENGTH, _BELOW = 3, 6, 48
"""Where the chances of a family's sign, length and lower bits begin."""

Bytes = NDArray[np.uint8]
Chances = NDArray[np.uint32]
Numbers = NDArray[np.int64]


def _one_of(chance: int) -> int:
    """The chance of a one in units of 2^-11."""
    return max(chance >> (8 + 16 - BIT_BITS) & 0x7FF, 1)


def _learned(chance: int, bit: int) -> int:
    """The chance after one more bit."""
    one, seen = chance >> 8 & 0xFFFF, min(chance & 0xFF, _SEEN)
    rate = 655360 // (10 * seen + 16)
    one += (0xFFFF - one) * rate >> 16 if bit else -(one * rate >> 16)
    return one << 8 | min(seen + 1, _SEEN)


def _places(base: int, last: int) -> tuple[int, int]:
    """Where the chances stand of a number being other than zero, and of its sign."""
    return base + min(abs(last), 2), base + _SIGN + (last > 0) + 2 * (last < 0)


def _bits_of(value: int, base: int, last: int) -> list[tuple[int, int]]:
    """Bits of a number, and where the chance of each stands; -1 for one of even chances."""
    busy, sign = _places(base, last)
    if not value:
        return [(busy, 0)]
    size = abs(value)
    length = size.bit_length() - 1
    bits = [(busy, 1), (sign, int(value < 0))]
    bits += [(base + _LENGTH + i, int(i < length)) for i in range(length + 1)]
    for i in range(length - 1, -1, -1):
        bits.append((base + _BELOW + (size >> (i + 1)) if length <= 2 else -1, size >> i & 1))
    return bits


@native("i64[] u8[] u32[]! u8[]! -> i")
def push_numbers(values: Numbers, families: Bytes, bits: Chances, out: Bytes) -> int:
    """Code numbers, each of the family beside it, into the last bytes of `out`.

    Returns how many bytes there are, -1 if there is no room, a number is beyond 40 bits or a family unknown.

    bits: room for the bits of all numbers, of which 84 a number are enough
    """
    if len(families) != len(values) or int(families.max(initial=0)) >= FAMILIES:
        return -1
    chances, coded = [FIRST_CHANCE] * (FAMILIES * CHANCES), list[int]()
    last: list[int] = [0] * FAMILIES
    own: list[tuple[int, int]] = list(zip(values.tolist(), families.tolist(), strict=True))
    for value, family in own:
        if abs(value) >> MOST_LENGTH:
            return -1
        for place, bit in _bits_of(value, family * CHANCES, last[family]):
            one = _one_of(chances[place]) if place >= 0 else 1 << (BIT_BITS - 1)
            zero = (1 << BIT_BITS) - one
            coded.append(one << 16 | zero if bit else zero << 16)
            if place >= 0:
                chances[place] = _learned(chances[place], bit)
        last[family] = value
    data = _pushed(coded)
    if len(coded) > len(bits) or len(data) > len(out):
        return -1
    bits[: len(coded)] = coded
    out[len(out) - len(data) :] = np.frombuffer(data, np.uint8)
    return len(data)


def _pushed(coded: list[int]) -> bytes:
    x, out = BIT_LOWEST, bytearray()
    for one in reversed(coded):
        f, start = one >> 16, one & 0xFFFF
        while x >= f << (24 - BIT_BITS):
            out.append(x & 0xFF)
            x >>= 8
        x = (x // f << BIT_BITS) + x % f + start
    return x.to_bytes(3, "little") + bytes(reversed(out))


class _Taker:
    """Bits taken one after the other."""

    def __init__(self, data: bytes, x: int, at: int, chances: list[int]) -> None:
        self._data, self.x, self.at, self.chances, self.short = data, x, at, chances, False

    def even(self, one: int = 1 << (BIT_BITS - 1)) -> int:
        """The next bit, with such a chance of a one."""
        slot, zero = self.x & ((1 << BIT_BITS) - 1), (1 << BIT_BITS) - one
        bit = int(slot >= zero)
        self.x = (one if bit else zero) * (self.x >> BIT_BITS) + slot - (zero if bit else 0)
        while self.x < BIT_LOWEST:
            some = self.at < len(self._data)
            self.short |= not some
            self.x = self.x << 8 | (self._data[self.at] if some else 1)
            self.at += some
        return bit

    def bit(self, place: int) -> int:
        """The next bit, with the chance that stands there."""
        bit = self.even(_one_of(self.chances[place]))
        self.chances[place] = _learned(self.chances[place], bit)
        return bit

    def number(self, base: int, last: int) -> int:
        """The next number."""
        busy, sign = _places(base, last)
        if not self.bit(busy):
            return 0
        minus, length, size = self.bit(sign), 0, 1
        while self.bit(base + _LENGTH + length):
            length += 1
            if length >= MOST_LENGTH:
                self.short = True
                return 0
        for _ in range(length):
            size = 2 * size + (self.bit(base + _BELOW + size) if length <= 2 else self.even())
        return -size if minus else size


@native("u8[] i64[]! u32[]! i i64[]! -> i")
def pop_numbers(data: Bytes, state: Numbers, chances: Chances, family: int, values: Numbers) -> int:
    """Fill `values` with the next numbers of a family; -1 if the bytes end too soon or sizes do not fit.

    state:   the coder's, the byte that it goes on with, and the last number of every family
    chances: of all families
    """
    if len(state) != STATE or len(chances) != FAMILIES * CHANCES or not 0 <= family < FAMILIES:
        return -1
    x, at = int(state[0]), int(state[1])
    if not BIT_LOWEST <= x < BIT_LOWEST << 8 or not 0 <= at <= len(data):
        return -1
    taker = _Taker(data.tobytes(), x, at, chances.tolist())
    last = int(state[2 + family])
    for i in range(len(values)):
        values[i] = last = taker.number(family * CHANCES, last)
        if taker.short:
            return -1
    state[[0, 1, 2 + family]] = taker.x, taker.at, last
    chances[:] = taker.chances
    return 0
