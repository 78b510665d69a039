"""Subtractive dither: noise that sender and receiver both know, added before rounding, taken off after.

Schuchman, 1964; Gray and Stockham, "Dithered quantizers", IEEE Transactions on Information Theory, 1993.
With u uniform over one step, round(x / step + u) - u differs from x / step by noise that is uniform over one
step, whatever x is: no bias, and an error that is independent of the data. u of entry i is word i of a
stream whose seed travels in the frame.
"""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels import dither as kernels
from lossyfl.kernels.checks import fits
from lossyfl.types import Bounds, Symbols, UniformTable, Vector

KEY = 0x6469746865720000
"""The second key word of every stream of dither."""


def noise(seed: int, start: int, stop: int) -> NDArray[np.float32]:
    """What is added to entries [start, stop), in steps: in [-1/2, 1/2), multiples of 2^-24.

    >>> noise(7, 0, 1000).min() >= -0.5 and noise(7, 0, 1000).max() < 0.5
    np.True_
    """
    return kernels.noise(seed, KEY, start, stop)


def steps_of(table: UniformTable) -> Vector:
    """The step of every block."""
    return (table.high.astype(np.float64) / table.levels).astype(np.float32)


def take_off(x: Vector, bounds: Bounds, table: UniformTable, seed: int) -> None:
    """Make it x - step * noise, in two roundings per entry."""
    fits(kernels.take_off_dither(x, bounds, steps_of(table), seed, KEY))


def add(
    x: Vector,
    bounds: Bounds,
    steps: Vector,
    levels: int,
    seed: int,
    span: range,
    symbols: Symbols,
) -> None:
    """The symbols of the entries in `span`: x / step + noise, rounded."""
    start, stop = span.start, span.stop
    fits(kernels.add_dither(x, start, stop, bounds, steps, levels, seed, KEY, symbols))
