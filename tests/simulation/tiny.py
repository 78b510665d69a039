"""A task that trains in microseconds, and others that go wrong."""

import os
import time
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from tests.data.small import SMALL_PLAYS
from torch import Tensor, nn

from lossyfl.streams import stream
from lossyfl.tasks import Defaults, Samples, Task
from lossyfl.tasks.models import linear
from lossyfl.tasks.shakespeare import next_characters

DEFAULTS = Defaults(
    rounds=6, devices=10, tau=2, batch=4, optimizer="sgd", lr="0.5", partition="paper"
)


def make_task(*, samples: int = 200, pause: float = 0.0) -> Task:
    """Ten Gaussian clouds in ten dimensions."""
    y = (np.arange(samples) % 10).astype(np.uint8)
    bits = stream(5).bits(0, samples * 10).reshape(samples, 10)
    x = (bits / 2**32 + np.eye(10)[y]).astype(np.float32)
    data = Samples(x=x, y=y)
    loss = partial(slowly, seconds=pause) if pause else nn.functional.cross_entropy
    return Task(
        name="tiny",
        train=data,
        test=data,
        model=partial(linear, 10, 10),
        prepare=same,
        loss=loss,
        defaults=DEFAULTS,
    )


def same(x: Tensor) -> Tensor:
    return x


def slowly(outputs: Tensor, targets: Tensor, *, seconds: float) -> Tensor:
    time.sleep(seconds)
    return nn.functional.cross_entropy(outputs, targets)


def breaking() -> Task:
    """The loss of device 3's samples is NaN once the model has moved."""
    return replace(make_task(), loss=no_number)


def no_number(outputs: Tensor, targets: Tensor) -> Tensor:
    loss = nn.functional.cross_entropy(outputs, targets)
    bad = bool((targets == 3).all()) and bool(outputs.any())  # zero at the start
    return loss * torch.nan if bad else loss


def counting() -> Task:
    """A model with a whole-number buffer that decides what it does: the number of batches."""
    return replace(make_task(), model=Counting)


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.mean = nn.BatchNorm1d(10, momentum=None)
        self.classes = nn.Linear(10, 10)

    def forward(self, x: Tensor) -> Tensor:
        return self.classes(self.mean(x))


def outside() -> Task:
    """A task whose data says who has what, wrongly."""
    return replace(make_task(), parts=[np.arange(0, 100), np.arange(150, 250)])


def dying() -> Task:
    """A worker is killed as by the system when memory runs out."""
    return replace(make_task(), loss=killing)


def killing(outputs: Tensor, targets: Tensor) -> Tensor:
    del outputs, targets
    os.kill(os.getpid(), 9)
    raise AssertionError


def raising() -> Task:
    """A mistake in a user's own code."""
    return replace(make_task(), loss=mistaken)


def mistaken(outputs: Tensor, targets: Tensor) -> Tensor:
    del outputs, targets
    raise ZeroDivisionError("oops")


def divided() -> Task:
    """A task whose data says who has what."""
    return replace(make_task(), parts=[np.arange(0, 100), np.arange(100, 200)])


def plays() -> Task:
    """Next characters, two speakers."""
    return next_characters(SMALL_PLAYS.dataset.arrays[0], name="plays")


def local_function() -> Task:
    """A loss that no other process can import."""
    return replace(make_task(), loss=lambda outputs, targets: (outputs - targets).sum())


def not_a_task() -> int:
    return 7


def untyped():  # noqa: ANN201 - that it makes no task shows only when it is called
    return 7


def huge() -> Task:
    """A task whose models become infinite while the loss stays 0."""
    return replace(make_task(), loss=steep)


def steep(outputs: Tensor, targets: Tensor) -> Tensor:
    """Always 0, with steps beyond the largest float32."""
    del targets
    return (outputs - outputs.detach()).sum() * 3e38
