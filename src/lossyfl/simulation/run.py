"""A whole run: from an experiment to a results directory, with checkpoints on the way.

run       from the beginning
resume    from the last checkpoint, to the same bits as if nothing had happened
"""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from lossyfl.errors import InputError, Stopped
from lossyfl.results.directory import Results
from lossyfl.results.experiment import Experiment
from lossyfl.simulation import checkpoint as checkpoints
from lossyfl.simulation.given import WORDS_ONLY, Given
from lossyfl.simulation.pool import check_portable
from lossyfl.simulation.run_loop import RunLoop, RunResult
from lossyfl.simulation.setup import prepare
from lossyfl.simulation.store import wait_until_alone
from lossyfl.simulation.watcher import Silent, Watcher


def run(
    experiment: Experiment,
    out: Path,
    *,
    workers: int = 1,
    data_dir: Path | None = None,
    checkpoint_every: float = 30.0,
    force: bool = False,
    save_updates: frozenset[int] = frozenset(),
    watcher: Watcher | None = None,
    given: Given = WORDS_ONLY,
) -> RunResult:
    """Run an experiment into a new results directory.

    workers:          processes; the result is the same for any number
    checkpoint_every: seconds from one checkpoint to the next
    force:            replace the run that `out` holds
    save_updates:     rounds whose vectors are kept (`lossyfl.simulation.updates`)
    given:            objects in the place of its words
    """
    _check(workers, checkpoint_every)
    results = Results(out)
    results.check_free(force=force)
    watcher = watcher or Silent()
    watcher.preparing(f"loading the data of {experiment.task}")
    setup = prepare(experiment, data_dir, given)
    _check_updates(save_updates, setup.rounds)
    if workers > 1:
        check_portable(setup)
    with results.locked(), _disk_errors(out):
        results.check_free(force=force)  # again: another run may have been quicker
        results.clear()
        results.create(setup.experiment)
        loop = RunLoop(setup, results, workers, data_dir, save_updates)
        return loop.go(watcher, checkpoint_every, None)


def resume(
    out: Path,
    *,
    rounds: int | None = None,
    workers: int = 1,
    data_dir: Path | None = None,
    checkpoint_every: float = 30.0,
    save_updates: frozenset[int] = frozenset(),
    watcher: Watcher | None = None,
    given: Given = WORDS_ONLY,
) -> RunResult:
    """Go on with a run that was interrupted or killed, or add rounds to one that is done.

    save_updates: beside those that were asked for when the run began
    given:        the objects that it began with
    """
    _check(workers, checkpoint_every)
    results = Results(out)
    results.read_config()  # raises if there is no run, before a lock makes a folder
    with results.locked(), _disk_errors(out):
        results.close_to_others()
        results.remove_leftovers()
        settings, saved = results.read_config(), checkpoints.load(results.checkpoint)
        if rounds is not None and rounds <= saved.server.round:
            allowed = f"more than the {saved.server.round + 1} that are done"
            raise InputError("rounds", of="resume", allowed=allowed, got=rounds)
        settings = settings if rounds is None else replace(settings, rounds=rounds)
        folder = data_dir or (Path(saved.data_dir) if saved.data_dir else None)
        watcher = watcher or Silent()
        watcher.preparing(f"loading the data of {settings.task}")
        setup = prepare(settings, folder, given)
        saved.check_settings(setup.experiment)
        _check_updates(save_updates, setup.rounds, done=saved.server.round + 1)
        if workers > 1:
            check_portable(setup)
        wait_until_alone(checkpoints.store_path(results.checkpoint))
        wanted = save_updates | frozenset(saved.save_updates)
        loop = RunLoop(setup, results, workers, folder, wanted)
        return loop.go(watcher, checkpoint_every, saved)


@contextmanager
def _disk_errors(out: Path) -> Generator[None]:
    """Say what a disk did before the first round; what it does later is told by the run under way."""
    try:
        yield
    except OSError as error:
        raise Stopped(
            f"{error}\nnothing was done in {out}: the same command does it again"
        ) from error


def _check_updates(wanted: frozenset[int], rounds: int, done: int = 0) -> None:
    for each in sorted(wanted):
        if not done <= each < rounds:
            allowed = f"rounds from {done} to {rounds - 1}"
            raise InputError("save_updates", of="a run", allowed=allowed, got=each)


def _check(workers: int, checkpoint_every: float) -> None:
    if type(workers) is not int or workers < 1:
        raise InputError("workers", of="a run", allowed="an int >= 1", got=workers)
    if not checkpoint_every >= 0:
        allowed = "seconds, >= 0"
        raise InputError("checkpoint_every", of="a run", allowed=allowed, got=checkpoint_every)
