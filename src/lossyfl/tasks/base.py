"""What is to be learned: samples, a model, a loss, and what is measured.

A task is plain data and functions that can be imported, so that worker processes can be handed one:
the samples through shared memory, the functions by name. Torch is imported by what uses it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import InputError
from lossyfl.extras import require
from lossyfl.tasks.defaults import Defaults
from lossyfl.tasks.metrics import Better, Metric, check_names, metric

if TYPE_CHECKING:
    from torch import Tensor, nn

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


def scaled(x: "Tensor", by: float = 255) -> "Tensor":
    """X / by as floats; images in the memory format in which convolutions are fastest."""
    torch = require("torch", extra="sim")
    # Not `x.contiguous(...)`: with one channel that keeps strides that mean another format.
    layout = torch.channels_last if x.dim() == 4 else torch.contiguous_format
    floats = torch.empty_like(x, dtype=torch.float32, memory_format=layout)
    return torch.div(x, by, out=floats)


def usual(x: "Tensor") -> "Tensor":
    """Bytes as floats from 0 to 1, floats as 32-bit floats, whole numbers, as those of words, as they are."""
    if x.is_floating_point():
        return x.float()
    return x.long() if x.itemsize > 1 else scaled(x)


def cross_entropy(outputs: "Tensor", targets: "Tensor") -> "Tensor":
    """Torch's, the mean over a batch: of classes, as most tasks have them."""
    return require("torch.nn.functional", extra="sim").cross_entropy(outputs, targets)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Everything that a run needs to know of what is learned.

    model:    makes the module; its random start comes from torch's generator, which the run seeds
    prepare:  a batch of `Samples.x` as the module takes it; bytes are scaled to [0, 1] if nothing is said
    loss:     of outputs and targets, the mean over the batch
    metric:   what is measured on the test set: a name, a `Metric`, or several of them, the first of which is
              told while it trains, tuned and drawn. accuracy, loss, perplexity, MSE, RMSE and MAE are known
    better:   "higher" or "lower", of a metric that is not known
    unit:     behind its values, those of the first of several; "%" where they are fractions of one
    score:    of outputs and targets, its sum over a batch's samples; the mean loss where there is none
    defaults: settings that suit it
    parts:    which device has which samples, where the data says so: the partition `natural`
    """

    name: str
    train: Samples
    test: Samples
    model: "Callable[[], nn.Module]"
    prepare: "Callable[[Tensor], Tensor]" = usual
    loss: "Callable[[Tensor, Tensor], Tensor]" = cross_entropy
    metric: str | Metric | Sequence[str | Metric] = "accuracy"
    better: Better | None = None
    unit: str | None = None
    score: "Callable[[Tensor, Tensor], Tensor] | None" = None
    defaults: Defaults = field(default_factory=Defaults)
    parts: Parts | None = None

    def __post_init__(self) -> None:
        told = self.metric
        first = told if isinstance(told, str | Metric) else next(iter(told), "")
        if isinstance(first, Metric):
            for what in ("better", "unit", "score"):
                if (value := getattr(self, what)) is not None:
                    allowed = f"left out: the Metric {first.name} has its own"
                    raise InputError(what, of=f"the task {self.name}", allowed=allowed, got=value)
        check_names(self.metrics, of=f"the task {self.name}")

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """All that is measured, the first above all."""
        told = self.metric
        first, *rest = [told] if isinstance(told, str | Metric) else (told or ("",))
        if isinstance(first, str):
            first = metric(first, self.better, self.unit, self.score)
        return (first, *(metric(each) if isinstance(each, str) else each for each in rest))
