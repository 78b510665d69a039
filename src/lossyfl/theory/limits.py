"""What no code can beat: the least error at a rate, for entries of unit variance, drawn independently.

Shannon, "Coding theorems for a discrete source with a fidelity criterion", 1959. For Gaussian entries
D(R) = 4^-R. For Laplacian ones there is no closed form: Blahut's algorithm finds points of the curve, one for
every slope ("Computation of channel capacity and rate-distortion functions", IEEE Transactions on Information
Theory, 1972).
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

WIDEST = 9.0
"""Standard deviations that the grid reaches, each way: beyond lie 3 of a million Laplacian entries."""
PLACES = 361
SLOPES = tuple(np.geomspace(0.38, 60, 16).tolist())
CLOSE = 1e-3
"""Bits between Blahut's bounds on the rate at which a point is good enough."""
MOST = 20_000


def gaussian(rate: float) -> float:
    """The least error of Gaussian entries, which no others exceed.

    >>> gaussian(1)
    0.25
    """
    return 4.0**-rate


@cache
def laplacian() -> tuple[tuple[float, float], ...]:
    """Points (bits, least error) of Laplacian entries, from low rates to high ones, to 0.001 bits."""
    x = np.linspace(-WIDEST, WIDEST, PLACES)
    source = np.exp(-np.sqrt(2) * np.abs(x))
    source /= source.sum()
    variance = float(source @ x**2)  # the grid's, close to 1
    found = [_point(slope, source, (x[:, None] - x[None, :]) ** 2) for slope in SLOPES]
    return ((0.0, 1.0), *((rate, error / variance) for rate, error in found))


def _point(slope: float, source: Floats, squares: Floats) -> tuple[float, float]:
    """Rate and error where the curve falls by `slope` nats for each unit of error."""
    near = np.exp(-slope * squares)
    output = np.full(len(source), 1 / len(source))
    for _ in range(MOST):
        reached = near @ output
        gain = (source / reached) @ near
        output *= gain
        if np.log2(gain.max()) - float(output @ np.log2(gain)) < CLOSE:
            break
    reached = near @ output
    error = float(source @ ((near * squares) @ output / reached))
    rate = (-slope * error - float(source @ np.log(reached))) / np.log(2)
    return float(rate), error
