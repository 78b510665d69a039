"""A data set in memory."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]
Array: TypeAlias = NDArray[Any]


class AnyDataset(Protocol):
    """A data set in memory, of images or of something else."""

    @property
    def arrays(self) -> Sequence[Array]:
        """Its arrays, in the order of its facts."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """Images and labels, cut into train and test.

    name:             one of `names()`
    classes:          labels are 0 to classes - 1
    train_x, test_x:  pixels, (samples, channels, height, width), contiguous
    train_y, test_y:  labels, (samples,)
    """

    name: str
    classes: int
    train_x: Bytes
    train_y: Bytes
    test_x: Bytes
    test_y: Bytes

    @property
    def arrays(self) -> list[Bytes]:
        """train_x, train_y, test_x, test_y."""
        return [self.train_x, self.train_y, self.test_x, self.test_y]


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrayDataset:
    """A data set that is no images: its arrays, in the order of its facts."""

    name: str
    arrays: tuple[Array, ...]
