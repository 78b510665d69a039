"""The words of a run, checked before anything that takes time: torch, data, workers.

What can only be known of the model and the data is checked when they are there (`setup`).
"""

from collections.abc import Iterable

from lossyfl import tasks
from lossyfl.protocol.schemes import scheme
from lossyfl.results.experiment import Experiment
from lossyfl.tasks.optimizers import optimizer
from lossyfl.tasks.partitions import partition
from lossyfl.tasks.steps import step


def check_words(asked: Experiment, schemes: Iterable[str] = ()) -> None:
    """Raise if a text of a run names something that there is not, or with options that it does not take.

    schemes: instead of that of the experiment, where there are several
    """
    tasks.check(asked.task)
    for spec in schemes or [asked.scheme]:
        scheme(spec)
    if asked.optimizer is not None:
        optimizer(asked.optimizer)
    if asked.lr is not None:
        step(asked.lr)
    if asked.partition is not None:
        partition(asked.partition)
