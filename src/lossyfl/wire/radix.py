"""Plain positional packing: as many symbols as fit, as the digits of one 64-bit number.

The smallest code for short vectors, whose counts would cost more than they save, and for
alphabets that are powers of two. Needs no model and no table.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from lossyfl.errors import FrameError
from lossyfl.kernels.values import look_up
from lossyfl.types import Symbols, Vector, symbol_type

CHUNK = 1 << 16  # words converted at a time, so that no temporary is as large as the vector


@lru_cache(maxsize=64)
def digits_per_word(alphabet: int) -> int:
    """The largest n with alphabet^n <= 2^64.

    >>> digits_per_word(2), digits_per_word(5), digits_per_word(65_536)
    (64, 27, 4)
    """
    digits = 1
    while alphabet ** (digits + 1) <= 1 << 64:
        digits += 1
    return digits


@lru_cache(maxsize=256)
def _tail_bytes(alphabet: int, digits: int) -> int:
    """Bytes of the last, partial word."""
    return ((alphabet**digits - 1).bit_length() + 7) // 8


def nbytes(entries: int, alphabet: int) -> int:
    """The packed size of so many symbols.

    >>> nbytes(27, 5), nbytes(30, 5)
    (8, 9)
    """
    digits = digits_per_word(alphabet)
    return entries // digits * 8 + _tail_bytes(alphabet, entries % digits)


def pack(symbols: Symbols, alphabet: int) -> bytes:
    """The symbols as bytes; the first symbol of a word is its most significant digit."""
    digits = digits_per_word(alphabet)
    whole = len(symbols) // digits
    parts: list[bytes] = []
    for start in range(0, whole, CHUNK):
        stop = min(start + CHUNK, whole)
        table = symbols[start * digits : stop * digits].reshape(-1, digits)
        words = np.zeros(stop - start, dtype=np.uint64)
        for column in table.T:
            words = words * np.uint64(alphabet) + column
        parts.append(words.astype("<u8").tobytes())
    tail = 0
    for symbol in symbols[whole * digits :].tolist():
        tail = tail * alphabet + symbol
    parts.append(tail.to_bytes(_tail_bytes(alphabet, len(symbols) % digits), "little"))
    return b"".join(parts)


@dataclass(slots=True)
class RadixCoded:
    """Symbols that were packed. What a coder has, letters, segments and classes, there is none of."""

    unpacked: Symbols
    alphabet: int

    group: ClassVar[int] = 0
    segments: ClassVar[int] = 0
    classes: ClassVar[int] = 0
    side: ClassVar[int] = 0

    def symbols(self, threads: int) -> Symbols:
        """The symbols themselves."""
        del threads
        return self.unpacked

    def values(self, row: Vector, threads: int) -> Vector:
        """`row[symbol]` for every symbol."""
        del threads
        out = np.empty(len(self.unpacked), dtype=row.dtype)
        bounds = np.array((0, len(out)), dtype=np.int64)
        assert look_up(self.unpacked, bounds, np.ascontiguousarray(row)[None], out) >= 0
        return out

    def entropy(self) -> float:
        """Their entropy in bits if all are equally frequent: the frame says nothing else."""
        return len(self.unpacked) * math.log2(self.alphabet)


def open_coded(data: memoryview, alphabet: int, entries: int, *, offset: int) -> RadixCoded:
    """The symbols behind `pack`."""
    return RadixCoded(unpack(data, entries, alphabet, offset=offset), alphabet)


def unpack(data: memoryview, entries: int, alphabet: int, *, offset: int) -> Symbols:
    """The symbols behind `pack`; `offset` is where the data stands in its frame."""
    if len(data) != nbytes(entries, alphabet):
        raise FrameError(offset, f"{nbytes(entries, alphabet)} bytes of packed symbols", len(data))
    digits = digits_per_word(alphabet)
    whole = entries // digits
    words = np.frombuffer(data, dtype="<u8", count=whole)
    limit = alphabet**digits
    if limit < 1 << 64 and whole and int(words.max()) >= limit:
        bad = int(np.argmax(words >= np.uint64(limit)))
        raise FrameError(offset + 8 * bad, f"a number below {alphabet}^{digits}", int(words[bad]))
    symbols = np.empty(entries, dtype=symbol_type(alphabet))
    for start in range(0, whole, CHUNK):
        rest = words[start : start + CHUNK].astype(np.uint64)
        table = symbols[start * digits : (start + len(rest)) * digits].reshape(-1, digits)
        for column in range(digits - 1, -1, -1):
            table[:, column] = rest % np.uint64(alphabet)
            rest //= np.uint64(alphabet)
    tail = int.from_bytes(data[whole * 8 :], "little")
    if tail >= alphabet ** (entries % digits):
        expected = f"a number below {alphabet}^{entries % digits}"
        raise FrameError(offset + 8 * whole, expected, tail)
    for i in range(entries - 1, whole * digits - 1, -1):
        tail, symbols[i] = divmod(tail, alphabet)
    return symbols
