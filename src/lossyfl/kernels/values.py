"""The table look-up, and the rows of uniform tables: the reference of values.c."""

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.native import native

S = TypeVar("S", bound=np.generic)

Symbols = NDArray[np.uint8 | np.uint16]
Bounds = NDArray[np.int64]


@native("f32[] f32[] i f32[]! -> i")
def ladder_rows(
    low: NDArray[np.float32], high: NDArray[np.float32], alphabet: int, rows: NDArray[np.float32]
) -> int:
    """Per block the values -high ... -low, low ... high; -1 if sizes do not fit.

    Magnitude l of q is low + (high - low) l / q, in float64 and rounded once; an odd alphabet has one symbol
    for 0.
    """
    q = (alphabet - 1) // 2
    if q < 1 or len(high) != len(low) or rows.size != len(low) * alphabet:
        return -1
    start, stop = low[:, None].astype(np.float64), high[:, None].astype(np.float64)
    steps = np.arange(q + 1, dtype=np.float64)
    magnitudes = (start + (stop - start) * steps / q).astype(np.float32)
    out = rows.reshape(-1, alphabet)
    out[:, : q + 1] = -magnitudes[:, ::-1]
    out[:, alphabet - 1 - q :] = magnitudes
    return 0


def width_of(symbols: Symbols, bounds: Bounds, rows: NDArray[np.generic]) -> int:
    """Values of a row, -1 if blocks are not within the symbols, or symbols not within the rows."""
    if len(bounds) < 2 or bounds[0] < 0 or (np.diff(bounds) < 0).any() or bounds[-1] > len(symbols):
        return -1
    width = rows.size // (len(bounds) - 1)
    own = symbols[bounds[0] : bounds[-1]]
    return -1 if width < 1 or (len(own) and int(own.max()) >= width) else width


def looked_up(symbols: Symbols, bounds: Bounds, rows: NDArray[S], width: int) -> NDArray[S]:
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
