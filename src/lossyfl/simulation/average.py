"""The running average of the models that devices held: no byte more, and the swings of training cancel.

Polyak and Juditsky, "Acceleration of stochastic approximation by averaging", 1992. Whoever hears the
broadcasts can have it; nobody trains from it.
"""

import numpy as np

from lossyfl.types import Vector

KEEP = np.float32(0.8)
"""What is kept of the average in a round: it is of the last 5 models or so."""


def averaged(average: Vector, model: Vector) -> Vector:
    """The average with one more model; an empty one begins with it.

    >>> averaged(np.zeros(2, dtype=np.float32), np.full(2, 5, dtype=np.float32))
    array([1., 1.], dtype=float32)
    """
    if not len(average):
        return model.copy()
    return (model + KEEP * (average - model)).astype(np.float32, copy=False)
