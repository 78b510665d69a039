"""Lemma 1 of the paper: the relative variance of the stochastic quantizer, and the eps that it depends on."""

import math
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


def block_variance(x: NDArray[np.float32], bounds: NDArray[np.int64]) -> float:
    """Lemma 1 for one range per block: q^2 times the most that the relative variance can be.

    That is sum_b d_b (x_max,b - x_min,b)^2 / (4 ||x||^2) over blocks b of d_b entries, eps d / 4 for one.
    Entries are finite, and sums are the same to the bit on every processor.

    >>> x = np.float32([3, -4, 0, 1])
    >>> block_variance(x, np.array([0, 4])) == eps(x) * 4 / 4
    True
    >>> block_variance(x, np.array([0, 2, 4])) == (2 * 1 + 2 * 1) / (4 * 26)
    True
    """
    magnitudes = np.abs(x)
    high = float(magnitudes.max(initial=0.0))
    if high == 0:
        return 0.0
    starts = bounds[:-1]
    apart = np.maximum.reduceat(magnitudes, starts).astype(np.float64)
    apart -= np.minimum.reduceat(magnitudes, starts)
    parts = np.diff(bounds) * (apart / high) ** 2
    return math.fsum(parts.tolist()) / (4 * sum_of_squares_f32(magnitudes, high))


def length(x: NDArray[np.float32]) -> float:
    """||x||, the same to the bit on every processor.

    >>> length(np.float32([3, -4]))
    5.0
    """
    high = float(np.abs(x).max(initial=0.0))
    return high * math.sqrt(sum_of_squares_f32(x, high)) if high else 0.0
