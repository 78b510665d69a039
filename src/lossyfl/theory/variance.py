"""Lemma 1 of the paper: the relative variance of the stochastic quantizer, and the eps that it depends on."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lossyfl.errors import InputError
from lossyfl.kernels.theory import sum_of_squares_f32, sum_of_squares_f64


def relative_variance(eps: float, *, dimension: int, levels: int) -> float:
    """Lemma 1: E||Q(x, q) - x||^2 / ||x||^2 is at most eps d / (4 q^2).

    >>> relative_variance(0.04, dimension=100, levels=2)
    0.25
    """
    return eps * dimension / (4 * levels**2)


def eps(x: ArrayLike) -> float:
    """(max|x| - min|x|)^2 / ||x||^2 of Lemma 1, in [0, 1]; zero for the zero vector.

    It is 1 for one nonzero entry among zeros, and 0 where all magnitudes are equal.

    >>> eps([0, 0, -3]), eps([2, -2]), eps([0, 0])
    (1.0, 0.0, 0.0)
    >>> eps([3, -4])
    0.04
    """
    entries: NDArray[Any] = np.asarray(x).ravel()
    if entries.dtype != np.float32:
        entries = entries.astype(np.float64)
    magnitudes: NDArray[Any] = np.abs(entries)
    if not entries.size or not np.isfinite(high := float(magnitudes.max())):
        raise InputError("x", of="eps", allowed="finite, of at least one entry", got=x)
    if high == 0:
        return 0.0
    add = sum_of_squares_f32 if magnitudes.dtype == np.float32 else sum_of_squares_f64
    return (1 - float(magnitudes.min()) / high) ** 2 / add(magnitudes, high)
