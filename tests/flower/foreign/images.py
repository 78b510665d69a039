"""The images of the apps; digits where their data set is not here, so that no app goes untried."""

import numpy as np

from lossyfl.data import Dataset, load
from lossyfl.data.catalog import known
from lossyfl.data.places import find


def images(name: str) -> Dataset:
    """A data set, or what stands in for it."""
    return load(name) if is_here(name) else stand_in(known(name).shape)


def is_here(name: str) -> bool:
    """Whether a data set is on this machine: `lossyfl data fetch cifar10`, or $LOSSYFL_DATA."""
    return find(known(name)) is not None


def stand_in(shape: tuple[int, ...]) -> Dataset:
    """scikit-learn's digits, pixels repeated and padded to that shape."""
    digits = load("digits")
    train, test = (_grown(part, shape) for part in (digits.train_x, digits.test_x))
    return Dataset(
        name="digits",
        train_x=train,
        train_y=digits.train_y,
        test_x=test,
        test_y=digits.test_y,
        classes=digits.classes,
    )


def _grown(pixels: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """From 8 x 8 and 17 shades to a shape of channels, rows and columns and 256 shades."""
    channels, rows, _ = shape
    times = rows // pixels.shape[-1]
    large = (pixels * 15).repeat(times, axis=-1).repeat(times, axis=-2).repeat(channels, axis=1)
    edge = (rows - large.shape[-1]) // 2
    return np.pad(large, ((0, 0), (0, 0), (edge, edge), (edge, edge)))
