"""The built-in tasks on images and their classes.

What needs torch is imported by the functions, so that names and options can be checked without.
"""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lossyfl import data
from lossyfl.errors import InputError
from lossyfl.tasks import register
from lossyfl.tasks.defaults import Defaults

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor, nn

    from lossyfl.tasks.base import Task

DIGITS = Defaults(rounds=100, devices=20, tau=4, batch=16, optimizer="sgd", lr="0.2")
MNIST = Defaults(rounds=60, devices=40, tau=4, batch=50, optimizer="sgd", lr="0.1")
CIFAR10 = Defaults(rounds=100, devices=40, tau=5, batch=25, optimizer="adam", lr="0.001")
WRITERS = Defaults(rounds=100, tau=10, batch=10, optimizer="sgd", lr="0.1", partition="natural")
"""Of MNIST by writer, whose devices have 19 to 131 images."""

WRITER = 2
"""The column of QMNIST's labels that says who wrote it."""


@register("digits")
def digits() -> "Task":
    """8x8 digits that come with scikit-learn, a network of 13,706 parameters."""
    chosen = data.load("digits")
    from lossyfl.tasks.models import digits_cnn

    return _task(chosen, digits_cnn, DIGITS, sixteenths)


@register("mnist")
def mnist(*, by: str = "", data_dir: Path | None = None) -> "Task":
    """MNIST and the paper's network, 130,890 parameters; `by=writer` makes every writer a device."""
    if by not in ("", "writer"):
        raise InputError("by", of="mnist", allowed="writer, or left out", got=by)
    chosen = data.load("mnist", data_dir)
    from lossyfl.tasks.models import mnist_cnn
    from lossyfl.tasks.partitions import grouped

    if not by:
        return _task(chosen, mnist_cnn, MNIST)
    labels, _ = data.load_arrays("qmnist", data_dir)  # in the order of MNIST
    made = _task(chosen, mnist_cnn, WRITERS)
    return replace(made, name="mnist by writer", parts=grouped(labels[: len(made.train), WRITER]))


@register("fashion-mnist")
def fashion_mnist(*, data_dir: Path | None = None) -> "Task":
    """Fashion-MNIST and the paper's network for MNIST, 130,890 parameters."""
    chosen = data.load("fashion-mnist", data_dir)
    from lossyfl.tasks.models import mnist_cnn

    return _task(chosen, mnist_cnn, MNIST)


@register("cifar10")
def cifar10(*, data_dir: Path | None = None) -> "Task":
    """CIFAR-10 and the paper's network, 307,498 parameters."""
    chosen = data.load("cifar10", data_dir)
    from lossyfl.tasks.models import cifar_cnn

    return _task(chosen, cifar_cnn, CIFAR10)


@register("logistic")
def logistic(*, of: str = "digits", data_dir: Path | None = None) -> "Task":
    """Multinomial logistic regression, a convex loss, on any of the data sets."""
    chosen = data.load(of, data_dir)
    from lossyfl.tasks.models import linear

    model = partial(linear, chosen.train_x[0].size, chosen.classes)
    made = _task(chosen, model, DIGITS, sixteenths if of == "digits" else None)
    return replace(made, name=f"logistic regression on {made.name}")


@register("mlp")
def mlp(*, of: str = "digits", hidden: int = 1000, data_dir: Path | None = None) -> "Task":
    """Two hidden layers on any of the data sets; 1,076,010 parameters on digits by default."""
    chosen = data.load(of, data_dir)
    from lossyfl.tasks.models import perceptron

    model = partial(perceptron, chosen.train_x[0].size, hidden, chosen.classes)
    made = _task(chosen, model, DIGITS, sixteenths if of == "digits" else None)
    return replace(made, name=f"two hidden layers on {made.name}")


def sixteenths(x: "Tensor") -> "Tensor":
    """Pixels of scikit-learn's digits, 0 to 16, as floats in [0, 1]."""
    from lossyfl.tasks.base import scaled

    return scaled(x, 16)


def _task(
    chosen: data.Dataset,
    model: "Callable[[], nn.Module]",
    defaults: Defaults,
    prepare: "Callable[[Tensor], Tensor] | None" = None,
) -> "Task":
    from lossyfl.tasks.base import Samples, Task, scaled

    return Task(
        name=chosen.name,
        train=Samples(x=chosen.train_x, y=chosen.train_y),
        test=Samples(x=chosen.test_x, y=chosen.test_y),
        model=model,
        prepare=prepare or scaled,
        defaults=defaults,
    )
