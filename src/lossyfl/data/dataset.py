"""A data set in memory."""

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Bytes: TypeAlias = NDArray[np.uint8]


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
