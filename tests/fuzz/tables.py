"""Tables of the grammar: their bytes, and what their symbols stand for, entry by entry."""

import math
import struct
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tests.fuzz.choices import Choices, Ints

from lossyfl.types import Vector

LADDER, BOOK, SCALED = 1, 2, 3
BAD_FLOATS = (0x7FC00000, 0xFFC00000, 0x7F800001, 0xFF800001, 0x7F800000, 0xFF800000)
"""NaN, quiet and signalling, and infinity, as bits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeTable:
    """One table.

    look_up: the values of pairs of block and symbol
    steps:   of every block, which dither is measured in
    finite:  whether all that it can stand for is
    """

    data: bytes
    look_up: Callable[[Ints, Ints], Vector]
    steps: Vector
    finite: bool = True


def float_bytes(values: Vector, choices: Choices) -> bytes:
    """Floats as they travel."""
    data = bytearray(values.astype("<f4").tobytes())
    if choices.wrong("float"):
        at = 4 * choices.rng.randrange(len(data) // 4)
        data[at : at + 4] = struct.pack("<I", choices.rng.choice(BAD_FLOATS))
    if choices.wrong("table length"):
        data = data[:-4] if choices.rng.random() < 0.5 else data + choices.rng.randbytes(4)
    return bytes(data)


def ladder(alphabet: int, blocks: int, choices: Choices) -> MadeTable:
    """Symbols count the values upwards from -high; an even alphabet has -low and low, an odd one a zero."""
    pairs = np.sort(np.abs(choices.floats(2 * blocks)).reshape(blocks, 2), axis=1)
    low, high = pairs[:, 0].copy(), pairs[:, 1].copy()
    twin = alphabet % 2 == 0
    if not twin:
        low[:] = 0
    elif choices.wrong("ladder"):
        at = choices.rng.randrange(blocks)
        below, above = float(low[at]), float(high[at])
        options = ((-below - 1, above), (above, below - 1), (-0.0, above))
        low[at], high[at] = choices.rng.choice(options)
    q = (alphabet - 1) // 2

    def look_up(block: Ints, symbol: Ints) -> Vector:
        negative = symbol <= q if twin else symbol < q
        level = np.where(negative, q - symbol, symbol - q - twin).astype(np.float64)
        least, most = low[block].astype(np.float64), high[block].astype(np.float64)
        size = (least + (most - least) * level / q).astype(np.float32)
        return np.where(negative, -size, size)

    floats = np.concatenate([low, high]) if twin else high
    steps = (high.astype(np.float64) / q).astype(np.float32)
    return MadeTable(data=float_bytes(floats, choices), look_up=look_up, steps=steps)


def book(alphabet: int, blocks: int, choices: Choices) -> MadeTable:
    """Any values, block by block."""
    values = choices.floats(blocks * alphabet)
    rows = values.reshape(blocks, alphabet)
    return MadeTable(
        data=float_bytes(values, choices), look_up=lambda b, s: rows[b, s], steps=rows[:, 0]
    )


def scaled(alphabet: int, blocks: int, choices: Choices) -> MadeTable:
    """One row for all, times the scale of each block."""
    row, scales = choices.floats(alphabet), choices.floats(blocks)
    return MadeTable(
        data=float_bytes(np.concatenate([row, scales]), choices),
        look_up=lambda b, s: scales[b] * row[s],
        steps=scales,
        finite=bool(np.isfinite(np.abs(row).max() * np.abs(scales).max())),
    )


TABLES: dict[int, Callable[[int, int, Choices], MadeTable]] = {
    LADDER: ladder,
    BOOK: book,
    SCALED: scaled,
}


def undithered(x: Vector, steps: Vector, drawn: NDArray[np.uint32]) -> Vector:
    """X - step * noise, where noise + 1/2 is the upper 24 bits over 2^24; each operation rounded."""
    noise = (drawn >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24) - np.float32(0.5)
    return np.subtract(x, steps * noise, dtype=np.float32)


def unrotated(z: Vector, signs: NDArray[np.uint32]) -> Vector:
    """D H z / sqrt(n): scaled first, then stages of additions, the shortest stride first."""
    x = z * np.float32(1 / math.sqrt(len(z)))
    stride = 1
    while stride < len(x):
        pairs = x.reshape(-1, 2, stride)
        x = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        stride *= 2
    return np.where(signs, -x, x)
