"""Vectors on a grid: every entry is a whole multiple of one power of two, the step.

float32 has n * step for every whole n up to 2^24, and the sum of two of them, if it is no larger, without
rounding. So sums of vectors on a grid are exact in any order, and what several updates did to an estimate is
one update, their sum, to the bit.
"""

from collections.abc import Sequence

import numpy as np

from lossyfl.types import Codebook, Quantized, Shape, UniformTable, Vector, symbol_type

MOST = (1 << 15) - 1
"""Multiples of the step that have a symbol, each way."""
NARROW = 256
"""Symbols that can be coded by class."""
FRACTION = (1 << 23) - 1
"""The bits of a float32 behind its leading one."""


def step_of(x: Vector) -> float:
    """The largest power of two of which all entries are multiples; 0 for zeros, which are of any.

    >>> step_of(np.float32([0.75, -6, 0])), step_of(np.float32([0]))
    (0.25, 0.0)
    """
    bits = np.ravel(x).view(np.uint32) & np.uint32(0x7FFFFFFF)
    bits = bits[bits != 0]
    if not len(bits):
        return 0.0
    exponent = (bits >> np.uint32(23)).astype(np.int32)
    digits = (bits & np.uint32(FRACTION)).astype(np.int32)
    digits[exponent > 0] |= FRACTION + 1  # the others are subnormal
    _, place = np.frexp((digits & -digits).astype(np.float32))  # of the lowest bit, from 1 on
    return 2.0 ** int((np.maximum(exponent, 1) + place).min() - 151)


def multiples(x: Vector, tensors: Sequence[Shape] | None = None) -> Quantized | None:
    """Symbols that stand for x to the bit, where its entries are few enough multiples of its step.

    >>> made = multiples(np.float32([0.75, -6, 0]))
    >>> made.symbols, made.table.rows(0, 1)[0, made.symbols]
    (array([27,  0, 24], dtype=uint8), array([ 0.75, -6.  ,  0.  ], dtype=float32))
    """
    step, peak = step_of(x), float(max(x.max(), -x.min()))
    if not peak <= MOST * step:
        return None
    most = max(round(peak / step), 1) if step else 1
    numbers = (x / np.float64(step or 1)).astype(np.int32) + most
    counts = np.bincount(numbers, minlength=2 * most + 1)
    bounds = np.array([0, len(x)], dtype=np.int64)
    shapes = None if tensors is None else tuple(tensors)
    used = np.flatnonzero(counts)
    if len(counts) <= NARROW or len(used) > NARROW:
        high = np.array([most * step], dtype=np.float32)
        table = UniformTable(low=np.zeros_like(high), high=high, alphabet=len(counts))
        symbols = numbers.astype(symbol_type(len(counts)))
        return Quantized(symbols=symbols, bounds=bounds, table=table, counts=counts, tensors=shapes)
    used = np.union1d(used, most) if len(used) == 1 else used  # no alphabet has one symbol
    places = np.zeros(len(counts), dtype=np.uint8)
    places[used] = np.arange(len(used))
    book = Codebook(values=((used - most) * step).astype(np.float32)[None])
    return Quantized(
        symbols=places[numbers], bounds=bounds, table=book, counts=counts[used], tensors=shapes
    )
