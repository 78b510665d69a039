"""The words of a run, checked before anything that takes time: torch, data, workers.

What can only be known of the model and the data is checked when they are there (`setup`).
"""

from collections.abc import Iterable

from lossyfl import tasks
from lossyfl.protocol.schemes import scheme
from lossyfl.results.experiment import Experiment
from lossyfl.simulation.given import check_is_word
from lossyfl.tasks.optimizers import optimizer
from lossyfl.tasks.partitions import partition
from lossyfl.tasks.steps import step


def check_words(
    asked: Experiment, schemes: Iterable[str] | None = None, *, of_task: bool = True
) -> None:
    """Raise if a text of a run names something that there is not, or with options that it does not take.

    schemes: instead of that of the experiment, where there are several
    of_task: whether the task is one of words, too
    """
    if of_task:
        check_is_word(asked.task, "task")
        tasks.check(asked.task)
    for spec in [asked.scheme] if schemes is None else schemes:
        scheme(spec)
    if asked.optimizer is not None:
        optimizer(asked.optimizer)
    if asked.lr is not None:
        step(str(asked.lr))
    if asked.partition is not None:
        partition(asked.partition)
