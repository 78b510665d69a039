"""The built-in tasks: images and their classes."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

from torch import Tensor, nn

from lossyfl import data
from lossyfl.tasks import register
from lossyfl.tasks.base import Defaults, Samples, Task, scaled
from lossyfl.tasks.models import cifar_cnn, digits_cnn, linear, mnist_cnn, perceptron

DIGITS = Defaults(rounds=100, devices=20, tau=4, batch=16, optimizer="sgd", lr="0.2")
MNIST = Defaults(rounds=60, devices=40, tau=4, batch=50, optimizer="sgd", lr="0.1")
CIFAR10 = Defaults(rounds=100, devices=40, tau=5, batch=25, optimizer="adam", lr="0.001")


@register("digits")
def digits() -> Task:
    """8x8 digits that come with scikit-learn, a network of 13,706 parameters."""
    return _task(data.load("digits"), digits_cnn, DIGITS, sixteenths)


@register("mnist")
def mnist(*, data_dir: Path | None = None) -> Task:
    """MNIST and the paper's network, 130,890 parameters."""
    return _task(data.load("mnist", data_dir), mnist_cnn, MNIST)


@register("fashion-mnist")
def fashion_mnist(*, data_dir: Path | None = None) -> Task:
    """Fashion-MNIST and the paper's network for MNIST, 130,890 parameters."""
    return _task(data.load("fashion-mnist", data_dir), mnist_cnn, MNIST)


@register("cifar10")
def cifar10(*, data_dir: Path | None = None) -> Task:
    """CIFAR-10 and the paper's network, 307,498 parameters."""
    return _task(data.load("cifar10", data_dir), cifar_cnn, CIFAR10)


@register("logistic")
def logistic(*, of: str = "digits", data_dir: Path | None = None) -> Task:
    """Multinomial logistic regression, a convex loss, on any of the data sets."""
    chosen = data.load(of, data_dir)
    model = partial(linear, chosen.train_x[0].size, chosen.classes)
    return _task(chosen, model, DIGITS, sixteenths if of == "digits" else scaled)


@register("mlp")
def mlp(*, of: str = "digits", hidden: int = 1000, data_dir: Path | None = None) -> Task:
    """Two hidden layers on any of the data sets; 1,076,010 parameters on digits by default."""
    chosen = data.load(of, data_dir)
    model = partial(perceptron, chosen.train_x[0].size, hidden, chosen.classes)
    return _task(chosen, model, DIGITS, sixteenths if of == "digits" else scaled)


def sixteenths(x: Tensor) -> Tensor:
    """Pixels of scikit-learn's digits, 0 to 16, as floats in [0, 1]."""
    return scaled(x, 16)


def _task(
    chosen: data.Dataset,
    model: Callable[[], nn.Module],
    defaults: Defaults,
    prepare: Callable[[Tensor], Tensor] = scaled,
) -> Task:
    return Task(
        name=chosen.name,
        train=Samples(x=chosen.train_x, y=chosen.train_y),
        test=Samples(x=chosen.test_x, y=chosen.test_y),
        model=model,
        prepare=prepare,
        defaults=defaults,
    )
