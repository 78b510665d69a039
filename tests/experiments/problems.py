"""The convex problem of the bound, small enough for tests."""

from dataclasses import replace

import numpy as np

from lossyfl import stream
from lossyfl.experiments import logistic
from lossyfl.experiments.logistic import Source
from lossyfl.experiments.regression import Array, Regression

SOURCE = Source(partition="paper", devices=10, regulariser=0.1)
PAPER = logistic.regression(SOURCE)
IID = logistic.regression(replace(SOURCE, partition="iid"))


def some_theta(seed: int = 0) -> Array:
    bits = stream(seed).bits(0, 650).astype(np.float64)
    return (bits / 2**32 - 0.5).reshape(10, 65)


def few(samples: int) -> Regression:
    """Device 2, cut to so many samples."""
    own = PAPER.device(2)
    return replace(
        own,
        x=own.x[:samples],
        squares=own.squares[:samples],
        labels=own.labels[:samples],
        starts=np.array([0, samples]),
    )
