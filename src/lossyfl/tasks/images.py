"""The built-in tasks: images and their classes.

What needs torch is imported by the functions, so that names and options can be checked without.
"""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lossyfl import data
from lossyfl.data.catalog import DIGITS as PACKAGED
from lossyfl.data.catalog import known
from lossyfl.data.places import locate
from lossyfl.tasks import register
from lossyfl.tasks.defaults import Defaults

if TYPE_CHECKING:
    from torch import Tensor, nn

    from lossyfl.tasks.base import Task

DIGITS = Defaults(rounds=100, devices=20, tau=4, batch=16, optimizer="sgd", lr="0.2")
MNIST = Defaults(rounds=60, devices=40, tau=4, batch=50, optimizer="sgd", lr="0.1")
CIFAR10 = Defaults(rounds=100, devices=40, tau=5, batch=25, optimizer="adam", lr="0.001")

_DATA = {name: name for name in data.names()} | {"logistic": "digits", "mlp": "digits"}
"""The data set of every task, where its options say no other."""


@register("digits")
def digits() -> "Task":
    """8x8 digits that come with scikit-learn, a network of 13,706 parameters."""
    chosen = data.load("digits")
    from lossyfl.tasks.models import digits_cnn

    return _task(chosen, digits_cnn, DIGITS, sixteenths)


@register("mnist")
def mnist(*, data_dir: Path | None = None) -> "Task":
    """MNIST and the paper's network, 130,890 parameters."""
    chosen = data.load("mnist", data_dir)
    from lossyfl.tasks.models import mnist_cnn

    return _task(chosen, mnist_cnn, MNIST)


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
    return _task(chosen, model, DIGITS, sixteenths if of == "digits" else None)


@register("mlp")
def mlp(*, of: str = "digits", hidden: int = 1000, data_dir: Path | None = None) -> "Task":
    """Two hidden layers on any of the data sets; 1,076,010 parameters on digits by default."""
    chosen = data.load(of, data_dir)
    from lossyfl.tasks.models import perceptron

    model = partial(perceptron, chosen.train_x[0].size, hidden, chosen.classes)
    return _task(chosen, model, DIGITS, sixteenths if of == "digits" else None)


def check_data(name: str, options: Mapping[str, str], data_dir: Path | None) -> None:
    """Raise if the data of a built-in task is not there; other tasks are not checked."""
    if name not in _DATA:
        return
    facts = known(options.get("of", _DATA[name]))
    if facts is not PACKAGED:
        locate(facts, data_dir)


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
