"""Tables on a grid: values that are small multiples of a power of two, so that updates can be merged.

What a biased quantizer's symbols stand for may be chosen freely where its errors are kept. The smallest
magnitude goes to the power of two that is nearest, from 3/4 of it to 3/2, and the others to multiples of
that: symbols, and so bytes, are as before, and values of many rounds add up to few different ones. Where that
leaves more error than it may, steps are finer. An exact vector goes to multiples of 2^-14 of the power of two
above its largest magnitude.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lossyfl.compressors.base import AbstractWrapper, SendContext, packed
from lossyfl.errors import InputError
from lossyfl.types import Codebook, Quantized, Quantizer, Shape, Table, UniformTable, Vector
from lossyfl.wire.grid import MOST, multiples, step_of
from lossyfl.wire.values import values
from lossyfl.wire.vectors import product

SMALLEST = 2.0**-149
"""The smallest float32 above 0."""
EXACT = 2.0**-14
"""The step of an initial model without a budget, as a part of the power of two above its peak."""
FINEST = 2.0**-20
"""The least step of an update, as a part of the same of the estimate: so that 16 times as large a model is
on the grid still."""
MORE = 1.02
"""How many times its error an update may leave on the grid."""
HALVINGS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapped(AbstractWrapper):
    """What another compressor makes, its values on a grid."""

    damped = False

    def make(self, x: Vector, context: SendContext) -> tuple[Quantized, bytes]:
        """The same symbols, other values."""
        made, _ = self.inner.make(x, context)
        there = snapped(made)
        return there, packed(there, context)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounded:
    """Vectors as they are, but for what lies between the points of a fine grid."""

    quantizers: tuple[Quantizer, ...] = ()

    damped = False

    def check(self, tensors: Sequence[Shape], rounds: int | None = None) -> None:
        """Nothing to refuse."""
        del tensors, rounds

    def make(self, x: Vector, context: SendContext) -> tuple[Quantized, bytes]:
        """The nearest vector on the grid."""
        step = EXACT * power_above(x)
        near = (np.rint(x / step) * step + 0.0).astype(np.float32)  # no zero is negative
        made = multiples(near, context.tensors)
        assert made is not None, f"{1 / EXACT:g} multiples of a step"
        return made, packed(made, context)


def power_above(x: Vector) -> float:
    """The power of two that is no smaller than any magnitude; the smallest normal one for zeros."""
    peak = float(max(x.max(), -x.min(), 2.0**-126))
    fraction, exponent = math.frexp(peak)
    return math.ldexp(1.0, exponent - (fraction == 0.5))


def snapped(made: Quantized, x: Vector | None = None, *, least: float = 0.0) -> Quantized:
    """The same symbols with values on a grid; raises where there is none.

    x:     what was quantized: the step is halved until no more than MORE of its error is left
    least: the smallest step
    """
    if made.rotation is not None or made.dither is not None:
        what = "a rotation" if made.dither is None else "dither"
        allowed = "without rotation and dither, whose values lie on no grid"
        raise InputError("quantizer", of="grid", allowed=allowed, got=f"one with {what}")
    near = replace(made, table=_snapped(made.table, least, 0))
    if x is None or near.table is made.table:
        return near
    most = MORE * _error(x, made)
    for halvings in range(1, HALVINGS + 1):
        if _error(x, near) <= most:
            break
        near = replace(made, table=_snapped(made.table, least, halvings))
    return near


def _error(x: Vector, made: Quantized) -> float:
    """The sum of squared errors."""
    left = x - values(made)
    return product(left, left)


def _snapped(table: Table, least: float, halvings: int) -> Table:
    """A table on a grid: itself, if it is on one."""
    if isinstance(table, Codebook):
        smallest = np.abs(table.values[table.values != 0]).min(initial=np.inf)
        if smallest == np.inf:
            return table
        step = max(nearest_power(float(smallest)) / 2**halvings, least, SMALLEST)
        rounded = np.rint(table.values / np.float64(step)) * step + 0.0
        return Codebook(values=rounded.astype(np.float32))
    if table.peak <= MOST * step_of(table.rows(0, table.blocks)):
        return table
    if isinstance(table, UniformTable) and table.blocks == 1 and not table.low.any():
        wanted = float(table.high[0]) / table.levels
        step = max(nearest_power(wanted) / 2**halvings, least, SMALLEST)
        high = max(round(wanted / step), 1) * step * table.levels
        return replace(table, high=np.array([high], dtype=np.float32))
    allowed = "one with a single table whose values may be chosen, as deadzone, or dyadic"
    got = "another kind of table"
    raise InputError("quantizer", of="grid", allowed=allowed, got=got)


def nearest_power(x: float) -> float:
    """The power of two p with 3/4 p <= x < 3/2 p, for x above 0.

    >>> nearest_power(0.75), nearest_power(1.49), nearest_power(1.5)
    (1.0, 1.0, 2.0)
    """
    return math.ldexp(1.0, math.frexp(x * 4 / 3)[1] - 1)
