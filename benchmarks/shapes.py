"""Tasks of any size for the benchmark: the values are random, which changes no time.

Named as a user's own task is: `benchmarks.shapes:images:side=28,samples=60000`.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lossyfl.extras import of_extra
from lossyfl.streams import stream
from lossyfl.tasks.base import Samples, Task, scaled
from lossyfl.tasks.images import sixteenths
from lossyfl.tasks.models import digits_cnn, linear, mnist_cnn

with of_extra("sim"):
    from torch import Tensor, nn


def digits(*, samples: int) -> Task:
    """Random 8x8 images of ten classes, and the digits task's network."""
    return _images("digits", 8, samples, digits_cnn, sixteenths)


def mnist(*, samples: int = 60_000) -> Task:
    """Random 28x28 images of ten classes, and the paper's network for MNIST."""
    return _images("mnist", 28, samples, mnist_cnn, scaled)


def line(*, entries: int, samples: int) -> Task:
    """Random vectors of ten classes, and a linear model of about `entries` parameters."""
    features = max(1, entries // 10)
    bits = stream(0, purpose="shape").bits(0, samples * features)
    x = (bits.reshape(samples, features) / np.float32(2**32)).astype(np.float32)
    data = Samples(x=x, y=_labels(samples))
    model = partial(linear, features, 10)
    return Task(name="line", train=data, test=data, model=model, prepare=plain)


def plain(x: Tensor) -> Tensor:
    """Floats as they are."""
    return x


def _images(
    name: str,
    side: int,
    samples: int,
    model: Callable[[], nn.Module],
    prepare: Callable[[Tensor], Tensor],
) -> Task:
    bits = stream(0, purpose="shape").bits(0, samples * side * side)
    x = (bits >> (28 if side == 8 else 24)).astype(np.uint8).reshape(samples, 1, side, side)
    data = Samples(x=x, y=_labels(samples))
    test = Samples(x=x[:1000], y=data.y[:1000])
    return Task(name=name, train=data, test=test, model=model, prepare=prepare)


def _labels(samples: int) -> NDArray[np.uint8]:
    return (np.arange(samples) % 10).astype(np.uint8)
