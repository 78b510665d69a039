"""What no code can beat: the least error at a rate, for entries of unit variance, drawn independently.

Shannon, "Coding theorems for a discrete source with a fidelity criterion", 1959. For Gaussian entries
D(R) = 4^-R. For Laplacian ones there is no closed form: Blahut's algorithm finds points of the curve, one for
every slope ("Computation of channel capacity and rate-distortion functions", IEEE Transactions on Information
Theory, 1972).
"""

from functools import cache

import numpy as np

WIDEST = 9.0
"""Standard deviations that the grid reaches, each way: beyond lie 3 of a million Laplacian entries."""
PLACES = 361
SLOPES = tuple(np.geomspace(0.55, 60, 16).tolist())
ROUNDS = 400


def gaussian(rate: float) -> float:
    """The least error of Gaussian entries, which no others exceed.

    >>> gaussian(1)
    0.25
    """
    return 4.0**-rate


@cache
def laplacian() -> tuple[tuple[float, float], ...]:
    """Points (bits, least error) of Laplacian entries, from low rates to high ones."""
    x = np.linspace(-WIDEST, WIDEST, PLACES)
    source = np.exp(-np.sqrt(2) * np.abs(x))
    source /= source.sum()
    source_energy = float(source @ x**2)  # the grid's, close to 1
    squares = (x[:, None] - x[None, :]) ** 2
    points = [(0.0, 1.0)]
    for slope in SLOPES:
        near = np.exp(-slope * squares)
        output = np.full(PLACES, 1 / PLACES)
        for _ in range(ROUNDS):
            output *= (source / (near @ output)) @ near
        joint = near * output / (near @ output)[:, None] * source[:, None]
        rate = float(
            (joint * np.log2(np.maximum(joint, 1e-300) / np.outer(source, output + 1e-300))).sum()
        )
        points.append((rate, float((joint * squares).sum()) / source_energy))
    return tuple(points)
