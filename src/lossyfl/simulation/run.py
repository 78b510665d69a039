"""A whole run: from an experiment to a results directory, with checkpoints on the way.

run       from the beginning
resume    from the last checkpoint, to the same bits as if nothing had happened
"""

import signal
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Protocol

import numpy as np

from lossyfl.errors import InputError, LossyflError, Stopped
from lossyfl.simulation import checkpoint as checkpoints
from lossyfl.simulation.checkpoint import Checkpoint
from lossyfl.simulation.experiment import Experiment
from lossyfl.simulation.pool import open_pool
from lossyfl.simulation.records import Round
from lossyfl.simulation.results import Results, Summary, summarize
from lossyfl.simulation.rounds import Simulation
from lossyfl.simulation.setup import Setup, prepare
from lossyfl.simulation.store import Store, create


class Watcher(Protocol):
    """Someone who is told how a run goes."""

    def started(self, setup: Setup, done: list[Round]) -> None:
        """Everything is ready; these rounds were done before."""
        ...

    def round_done(self, record: Round) -> None:
        """One more."""
        ...

    def stopping(self) -> None:
        """The run was asked to stop, and will after this round."""
        ...

    def ended(self) -> None:
        """It is over, one way or the other."""
        ...


class Silent:
    """Nobody."""

    def started(self, setup: Setup, done: list[Round]) -> None:
        """Say nothing."""

    def round_done(self, record: Round) -> None:
        """Say nothing."""

    def stopping(self) -> None:
        """Say nothing."""

    def ended(self) -> None:
        """Say nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run ended: `finished`, or interrupted after a whole round."""

    folder: Path
    finished: bool
    summary: Summary


def run(
    experiment: Experiment,
    out: Path,
    *,
    workers: int = 1,
    data_dir: Path | None = None,
    checkpoint_every: float = 30.0,
    force: bool = False,
    watcher: Watcher | None = None,
) -> Outcome:
    """Run an experiment into a new results directory.

    workers:          processes; the result is the same for any number
    checkpoint_every: seconds from one checkpoint to the next
    force:            replace the run that `out` holds
    """
    _check(workers, checkpoint_every)
    results = Results(out)
    results.check_free(force=force)
    setup = prepare(experiment, data_dir)
    results.clear()
    with results.locked():
        results.create(setup.experiment)
        shape = setup.shape
        try:
            create(checkpoints.store_path(results.checkpoint), shape)
        except OSError as error:
            raise Stopped(f"no room for the devices' {shape.nbytes:,} bytes: {error}") from error
        journey = _Journey(setup, results, workers, data_dir)
        journey.save()
        return journey.go(watcher or Silent(), checkpoint_every)


def resume(
    out: Path,
    *,
    rounds: int | None = None,
    workers: int = 1,
    data_dir: Path | None = None,
    checkpoint_every: float = 30.0,
    watcher: Watcher | None = None,
) -> Outcome:
    """Go on with a run that was interrupted or killed, or add rounds to one that is done."""
    _check(workers, checkpoint_every)
    results = Results(out)
    settings = results.read_config()
    saved = checkpoints.load(results.checkpoint)
    if rounds is not None and rounds <= saved.server.round:
        allowed = f"more than the {saved.server.round + 1} that are done"
        raise InputError("rounds", of="resume", allowed=allowed, got=rounds)
    settings = settings if rounds is None else replace(settings, rounds=rounds)
    folder = data_dir or (Path(saved.data_dir) if saved.data_dir else None)
    setup = prepare(settings, folder)
    with results.locked():
        results.write_config(settings)
        journey = _Journey(setup, results, workers, folder)
        journey.restore(saved)
        return journey.go(watcher or Silent(), checkpoint_every)


class _Journey:
    """A run under way."""

    def __init__(self, setup: Setup, results: Results, workers: int, data_dir: Path | None) -> None:
        self.setup, self.results, self.data_dir = setup, results, data_dir
        path, shape = checkpoints.store_path(results.checkpoint), setup.shape
        self.store = Store(path, shape)
        self.pool = open_pool(setup, path, shape, workers)
        self.simulation = Simulation(setup, self.pool, self.store)
        self.done: list[Round] = []
        self.saved = -1

    def restore(self, saved: Checkpoint) -> None:
        """Go back to a checkpoint."""
        slots = np.frombuffer(saved.slots, dtype=np.int8)
        self.simulation.restore(saved.server, slots, saved.common_steps)
        self.pool.common[:] = saved.common
        self.done = self.results.truncate(saved.sizes)
        self.saved = saved.server.round

    def save(self) -> None:
        """Make a checkpoint of now: first everything that it refers to, then itself."""
        simulation = self.simulation
        self.store.flush()
        checkpoints.save(
            self.results.checkpoint,
            Checkpoint(
                server=simulation.server.state(),
                slots=simulation.slots.tobytes(),
                common=self.pool.common.copy(),
                common_steps=simulation.common_steps,
                sizes=self.results.sizes(),
                data_dir=str(self.data_dir.absolute()) if self.data_dir else "",
            ),
        )
        simulation.commit()
        self.saved = simulation.server.round

    def go(self, watcher: Watcher, checkpoint_every: float) -> Outcome:
        """All rounds that are left."""
        try:
            with _interrupts(watcher) as interrupted:
                self.results.write_about("running", self.done)
                watcher.started(self.setup, self.done)
                self._rounds(watcher, checkpoint_every, interrupted)
            finished = len(self.done) >= self.setup.rounds
            if finished:
                self.results.write_model(self.simulation.server.theta, self.setup.places)
            self.results.write_about("done" if finished else "interrupted", self.done)
        except (LossyflError, OSError) as error:
            with suppress(OSError):  # there may be no room for it
                self.results.write_about("stopped", self.done)
            raise Stopped(self._explain(error)) from error
        finally:
            watcher.ended()
            self.pool.close()
        summary = summarize(self.done)
        return Outcome(folder=self.results.folder, finished=finished, summary=summary)

    def _rounds(
        self, watcher: Watcher, checkpoint_every: float, interrupted: threading.Event
    ) -> None:
        last, spent = time.monotonic(), 0.0
        while len(self.done) < self.setup.rounds and not interrupted.is_set():
            record, ledger = self.simulation.play(spent)
            start = time.monotonic()
            self.results.append(record, ledger)
            self.done.append(record)
            ends = len(self.done) == self.setup.rounds or interrupted.is_set()
            if ends or start - last >= checkpoint_every:
                self.save()
                last = time.monotonic()
            spent = time.monotonic() - start
            watcher.round_done(record)
        if self.saved != self.simulation.server.round:
            self.save()  # the wish to stop came after the last look

    def _explain(self, error: Exception) -> str:
        """What happened, and how to go on."""
        folder = self.results.folder
        if self.saved < 0:
            return f"{error}\nno round was saved; results so far are in {folder}"
        return (
            f"{error}\nthe checkpoint of round {self.saved} is whole: `lossyfl resume {folder}` "
            "goes on from there"
        )


@contextmanager
def _interrupts(watcher: Watcher) -> Generator[threading.Event]:
    """An event that Ctrl-C or a request to end sets; the second one stops at once."""
    wished = threading.Event()

    def wish(number: int, frame: FrameType | None) -> None:
        del number, frame
        if wished.is_set():
            raise KeyboardInterrupt
        wished.set()
        watcher.stopping()

    if threading.current_thread() is not threading.main_thread():
        yield wished  # only the main thread hears signals
        return
    before = {number: signal.signal(number, wish) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield wished
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _check(workers: int, checkpoint_every: float) -> None:
    if type(workers) is not int or workers < 1:
        raise InputError("workers", of="a run", allowed="an int >= 1", got=workers)
    if not checkpoint_every >= 0:
        allowed = "seconds, >= 0"
        raise InputError("checkpoint_every", of="a run", allowed=allowed, got=checkpoint_every)
