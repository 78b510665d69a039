"""The data that built-in tasks need, which can be looked for before torch is imported."""

from collections.abc import Mapping
from pathlib import Path

from lossyfl.data.catalog import DIGITS, known
from lossyfl.data.places import locate

OF_TASK = {
    "mnist": "mnist",
    "fashion-mnist": "fashion-mnist",
    "cifar10": "cifar10",
    "logistic": "digits",
    "mlp": "digits",
    "shakespeare": "shakespeare",
}
"""The data set of every task, where its options say no other; digits are always there."""


def check_data(name: str, options: Mapping[str, str], data_dir: Path | None) -> None:
    """Raise if the data of a built-in task is not there; other tasks are not checked."""
    if name not in OF_TASK:
        return
    needed = [options.get("of", OF_TASK[name])]
    if "by" in options:
        needed.append("qmnist")
    for facts in map(known, needed):
        if facts is not DIGITS:
            locate(facts, data_dir)
