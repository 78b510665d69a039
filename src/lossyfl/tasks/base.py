"""What is to be learned: samples, a model, a loss, and what a right answer is.

A task is plain data and functions that can be imported, so that worker processes can be handed one:
the samples through shared memory, the functions by name.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lossyfl.extras import of_extra
from lossyfl.tasks.defaults import Defaults

with of_extra("sim"):
    import torch
    from torch import Tensor, nn
    from torch.nn import functional

Parts: TypeAlias = Sequence[NDArray[np.int64]]
"""Which samples each device has: their numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Inputs and targets, the first axis of both counts the samples.

    x: as stored; images as bytes take a quarter of the memory
    y: classes as whole numbers, or whatever the task's loss takes
    """

    x: NDArray[Any]
    y: NDArray[Any]

    def __len__(self) -> int:
        return len(self.x)


def scaled(x: Tensor, by: float = 255) -> Tensor:
    """X / by as floats; images in the memory format in which convolutions are fastest."""
    # Not `x.contiguous(...)`: with one channel that keeps strides that mean another format.
    layout = torch.channels_last if x.dim() == 4 else torch.contiguous_format
    floats = torch.empty_like(x, dtype=torch.float32, memory_format=layout)
    return torch.div(x, by, out=floats)


def hits(outputs: Tensor, targets: Tensor) -> Tensor:
    """How many samples have their largest output at the target's class.

    Of a sample with several targets, as the next characters of a text, it is the fraction that is right.
    """
    right = (outputs.argmax(dim=1) == targets).sum()
    return right if targets.dim() == 1 else right.double() / targets[0].numel()


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Everything that a run needs to know of what is learned.

    model:    makes the module; its random start comes from torch's generator, which the run seeds
    prepare:  a batch of `Samples.x` as the module takes it
    loss:     of outputs and targets, the mean over the batch
    correct:  how many of a batch are right, or any sum of scores
    defaults: settings that suit it
    parts:    which device has which samples, where the data says so: the partition `natural`
    """

    name: str
    train: Samples
    test: Samples
    model: Callable[[], nn.Module]
    prepare: Callable[[Tensor], Tensor] = scaled
    loss: Callable[[Tensor, Tensor], Tensor] = functional.cross_entropy
    correct: Callable[[Tensor, Tensor], Tensor] = hits
    defaults: Defaults = field(default_factory=Defaults)
    parts: Parts | None = None
