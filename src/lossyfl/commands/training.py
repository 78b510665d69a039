"""What all commands that train do before the first round: words are checked, then torch begins to start."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lossyfl.commands.output import echo
from lossyfl.extras import check_installed

if TYPE_CHECKING:
    from lossyfl.commands.execution import Execution
    from lossyfl.results.experiment import Experiment


def checked(
    settings: Mapping[str, object], data_dir: Path | None, schemes: Sequence[str] = ()
) -> "Experiment":
    """The experiment of these settings; a wrong word in it costs nothing, as torch is not imported yet.

    schemes: those that are run, where they are not the experiment's
    """
    from lossyfl.results.experiment import experiment

    chosen = experiment(settings)
    check(chosen, data_dir, schemes)
    return chosen


def check(chosen: "Experiment", data_dir: Path | None, schemes: Sequence[str] = ()) -> None:
    """Raise if a word of an experiment is wrong, or the data of its task not there."""
    from lossyfl.simulation.words import check_words
    from lossyfl.tasks import check_data

    check_words(chosen, schemes or None)
    check_data(chosen.task, data_dir)


def start_workers(how: "Execution") -> int:
    """How many, and those of them that are processes begin to start; all words have been checked before."""
    check_installed("torch", extra="sim")
    from lossyfl.simulation.memory import keep_freed_memory
    from lossyfl.simulation.warm import default_workers, warm_up

    keep_freed_memory()
    count = how.workers or default_workers()
    if count > 1:
        warm_up()
    return count


def settle(
    settings: Mapping[str, object], how: "Execution", schemes: Sequence[str], *, quiet: bool
) -> "tuple[Experiment, int]":
    """The experiment that several schemes have in common, all of it said, and how many workers there are."""
    chosen = checked(settings, how.data_dir, schemes)
    workers = start_workers(how)
    if not quiet:
        echo(f"importing torch, loading the data of {chosen.task}", err=True)
    from lossyfl.experiments.compare import settled

    return settled(chosen, how.data_dir), workers
