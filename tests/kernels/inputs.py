"""Recorded kernel calls as inputs of the fuzzer, short as attack.c reads them.

byte    number of the kernel
byte    bit 0: who shares pieces; bit 1: arrays begin where only an element of them may; bit 7: large arrays
numbers a byte says what follows: the number itself, the length of an array before, or up to 8 bytes
arrays  their length, the same way, and content: runs of elements that are literal, alike, or a ramp
"""

import struct
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ITEM = {"u8": 1, "u16": 2, "u32": 4, "u64": 8, "i64": 8, "f32": 4, "f64": 8, "b": 1}
LONGEST = 4096
"""Bytes of an input: LONGEST_INPUT in attack.c."""

LONGEST_CONTENT = (2200, 800, 250)
"""Bytes of an array, the most that lets the whole call fit."""
LONGEST_WRITTEN = 256
LARGE = 1024
SHORTEST_RUN = 4

Call = list[int | float | NDArray[np.uint64]]
"""Arguments as they were before the call; arrays by the bits of their elements."""


def item(kernel: str, word: str) -> int:
    """Bytes of an element of an argument that is an array."""
    kind = word.partition("[]")[0]
    return ITEM[f"u{kernel.rpartition('_u')[2]}" if kind == "s" else kind]


def calls(path: Path, signatures: dict[str, str]) -> Iterator[tuple[str, Call]]:
    """All calls of a file that record.py wrote."""
    data, at = path.read_bytes(), 0
    names = list(signatures)
    while at < len(data):
        number, size = struct.unpack_from("<II", data, at)
        words = signatures[names[number]].partition(" -> ")[0].split()
        yield names[number], _arguments(names[number], words, data[at + 8 : at + 8 + size])
        at += 8 + size


def _arguments(kernel: str, words: Sequence[str], data: bytes) -> Call:
    call: Call = []
    at = 0
    for word in words:
        if "[]" not in word:
            call.append(struct.unpack_from("<d" if word in "fd" else "<q", data, at)[0])
            at += 8
            continue
        size, length = struct.unpack_from("<IQ", data, at)
        content = data[at + 12 : at + 12 + size * length]
        call.append(np.frombuffer(content, f"<u{item(kernel, word)}").astype(np.uint64))
        at += 12 + size * length
    return call


def encoded(number: int, kernel: str, words: Sequence[str], call: Call) -> bytes:
    """A call as an input, with as much of its arrays as there is room for."""
    tried = (_encoded(number, kernel, words, call, most) for most in LONGEST_CONTENT)
    return next((made for made in tried if len(made) <= LONGEST), bytes(LONGEST + 1))


def _encoded(number: int, kernel: str, words: Sequence[str], call: Call, most: int) -> bytes:
    large = any(isinstance(argument, np.ndarray) and len(argument) >= LARGE for argument in call)
    out, lengths = bytearray([number, 128 * large]), list[int]()
    for word, argument in zip(words, call, strict=True):
        if isinstance(argument, np.ndarray):
            content = _content(argument, item(kernel, word), most, written=word.endswith("!"))
            out += _length(len(argument), lengths) + content
            lengths.append(len(argument))
        elif word in "fd":
            out += _float(float(argument))
        else:
            out += _whole(int(argument), lengths)
    return bytes(out)


def _float(x: float) -> bytes:
    small = 0 <= x < 16 and x * 8 == int(x * 8) and not (x == 0 and np.signbit(x))
    return bytes([int(x * 8)]) if small else bytes([128]) + struct.pack("<d", x)


def _related(n: int, lengths: Sequence[int]) -> int | None:
    """The code of a number that is about the length of one of the last eight arrays."""
    for back, length in enumerate(reversed(lengths[-8:])):
        if length > 1 and n in (tried := (length, length + 1, length - 1, 2 * length, length // 2)):
            return 5 * back + tried.index(n)
    return None


def _whole(n: int, lengths: Sequence[int]) -> bytes:
    if (code := _related(n, lengths)) is not None:
        return bytes([160 + code])
    if 0 <= n < 160:
        return bytes([n])
    size = next(size for size in range(1, 9) if -(1 << 8 * size - 1) <= n < 1 << 8 * size - 1)
    return bytes([200 + size - 1]) + n.to_bytes(size, "little", signed=True)


def _length(n: int, lengths: Sequence[int]) -> bytes:
    if (code := _related(n, lengths)) is not None:
        return bytes([200 + code])
    if n < 200:
        return bytes([n])
    return (
        bytes([240]) + struct.pack("<H", n) if n < LARGE else bytes([255]) + n.to_bytes(3, "little")
    )


def _content(array: NDArray[np.uint64], size: int, most: int, *, written: bool) -> bytes:
    """All elements: runs of four and more that are alike or a ramp, and the others between them.

    Too many of them are cut short; where a kernel writes, they are what happened to be there, and zeros do.
    """
    most = min(most, LONGEST_WRITTEN) if written else most
    out, at, literal = bytearray(), 0, 0
    steps = np.diff(array).view(np.int64)
    ends = np.append(np.flatnonzero(np.diff(steps)) + 2, len(array))
    for end in map(
        int, ends
    ):  # a run ends where the step changes; its last element begins the next
        if end - at >= SHORTEST_RUN and -128 <= steps[at] < 128:
            out += _literals(array[literal:at], size)
            out += _run(int(array[at]), int(steps[at]), end - at, len(array) - end, size)
            literal = at = end
        else:
            at = max(at, end - 1)
        if len(out) + size * (end - literal) > most:
            begun = b"" if written else _literals(array[: most // size], size)
            return begun + bytes([128 + 63]) + bytes(size)
    return bytes(out + _literals(array[literal:], size))


def _literals(array: NDArray[np.uint64], size: int) -> bytes:
    out = bytearray()
    for at in range(0, len(array), 128):
        some = array[at : at + 128]
        out += bytes([len(some) - 1]) + b"".join(int(x).to_bytes(size, "little") for x in some)
    return bytes(out)


def _run(value: int, step: int, count: int, behind: int, size: int) -> bytes:
    """Elements alike, or a ramp, which goes on from an element before."""
    first = value.to_bytes(size, "little")
    if not step:
        return b"".join(bytes([128 + code]) + first for code in _pieces(count, behind))
    ramp = b"".join(bytes([192 + code, step & 255]) for code in _pieces(count - 1, behind))
    return bytes([0]) + first + ramp


def _pieces(count: int, behind: int) -> Iterator[int]:
    """The codes of so many elements: 1 to 32 of them, a power of two, or all that are left."""
    if not behind:
        yield 63
        return
    while count:
        power = min(count.bit_length() - 1, 15)
        yield count - 1 if count <= 32 else 32 + power
        count -= count if count <= 32 else 1 << power


def spread(inputs: Sequence[bytes], most: int) -> list[bytes]:
    """So many of them at most, from first to last, each once."""
    different = list(dict.fromkeys(each for each in inputs if len(each) <= LONGEST))
    return list(islice(different, 0, None, max(1, -(-len(different) // most))))
