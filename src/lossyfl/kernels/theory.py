"""The sum of squares that the bound's eps asks for."""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.native import native

SUMMED = 4096
"""Squares that are added before their sum is: sums of sums lose less."""


@native("f32[] d -> d")
def sum_of_squares_f32(x: NDArray[np.float32], high: float) -> float:
    """The sum of squares of entries divided by `high`, so that squares neither overflow nor vanish."""
    return _sum_of_squares(x, high)


@native("f64[] d -> d")
def sum_of_squares_f64(x: NDArray[np.float64], high: float) -> float:
    """The same of doubles."""
    return _sum_of_squares(x, high)


def _sum_of_squares(x: NDArray[np.float32 | np.float64], high: float) -> float:
    total = 0.0
    for start in range(0, len(x), SUMMED):
        scaled = np.abs(x[start : start + SUMMED].astype(np.float64)) / high
        total += float(np.add.accumulate(scaled * scaled)[-1])
    return total
