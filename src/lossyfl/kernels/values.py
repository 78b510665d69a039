"""The table look-up: the reference of values.c."""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.native import native

Symbols = NDArray[np.uint8 | np.uint16]
Bounds = NDArray[np.int64]


def width_of(symbols: Symbols, bounds: Bounds, rows: NDArray[np.generic]) -> int:
    """Values of a row, -1 if blocks are not within the symbols, or symbols not within the rows."""
    if len(bounds) < 2 or bounds[0] < 0 or (np.diff(bounds) < 0).any() or bounds[-1] > len(symbols):
        return -1
    width = rows.size // (len(bounds) - 1)
    own = symbols[bounds[0] : bounds[-1]]
    return -1 if width < 1 or (len(own) and int(own.max()) >= width) else width


def looked_up(
    symbols: Symbols, bounds: Bounds, rows: NDArray[np.generic], width: int
) -> NDArray[np.generic]:
    """rows[block of i, symbols[i]] for every i of the blocks."""
    blocks = np.repeat(np.arange(len(bounds) - 1) * width, np.diff(bounds))
    return rows.reshape(-1)[blocks + symbols[bounds[0] : bounds[-1]]]


@native("s[] i64[] f32[] f32[]! -> i")
def look_up(
    symbols: Symbols, bounds: Bounds, rows: NDArray[np.float32], out: NDArray[np.float32]
) -> int:
    """out[i] = rows[block of i, symbols[i]]; -1 if something is out of bounds."""
    width = width_of(symbols, bounds, rows)
    if width < 1 or len(out) != len(symbols):
        return -1
    out[bounds[0] : bounds[-1]] = looked_up(symbols, bounds, rows, width)
    return 0
