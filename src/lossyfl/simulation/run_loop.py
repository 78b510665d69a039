"""The loop of a run: open or restore, round after round with checkpoints, and how it ended."""

import shlex
import threading
import time
import traceback
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lossyfl.errors import Diverged, InputError, Interrupted, LossyflError, Stopped
from lossyfl.files import disk
from lossyfl.results.directory import Results, State
from lossyfl.results.summary import RunSummary, summarize
from lossyfl.results.task_facts import TaskFacts
from lossyfl.simulation import checkpoint as checkpoints
from lossyfl.simulation.checkpoint import Checkpoint
from lossyfl.simulation.interrupts import interrupts
from lossyfl.simulation.pool import open_pool
from lossyfl.simulation.rounds import Simulation
from lossyfl.simulation.setup import Setup
from lossyfl.simulation.store import DeviceStore, create
from lossyfl.simulation.updates import Updates
from lossyfl.simulation.watcher import Watcher
from lossyfl.tasks.metrics import ACCURACY, Metric

if TYPE_CHECKING:
    from lossyfl.results.records import Round


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """How a run ended: `finished`, or not; `interrupted`, if somebody wished that, after a whole round.

    metrics: what the task measures
    """

    folder: Path
    finished: bool
    interrupted: bool
    summary: RunSummary
    metrics: tuple[Metric, ...] = (ACCURACY,)


class RunLoop:
    """A run under way."""

    def __init__(
        self,
        setup: Setup,
        results: Results,
        workers: int,
        data_dir: Path | None,
        save_updates: frozenset[int],
    ) -> None:
        self.setup, self.results, self.data_dir = setup, results, data_dir
        self.workers = workers
        results.task = TaskFacts.of(setup.task)
        self.updates = Updates(folder=results.updates, rounds=save_updates)
        self.done: list[Round] = []
        self.before = 0
        self.saved = -1

    def go(self, watcher: Watcher, checkpoint_every: float, saved: Checkpoint | None) -> RunResult:
        """All rounds that are left, from a checkpoint if there is one."""
        finished = opened = False
        interrupted = threading.Event()
        if saved is not None:
            self.done = self.results.rounds_as_sent()[: saved.server.round + 1]
            self.saved = saved.server.round
        self.before = len(self.done)
        with ExitStack() as stack:
            try:
                with interrupts(watcher, interrupted, self._has_begun):
                    if self.workers > 1:
                        watcher.preparing(f"starting {self.workers} workers")
                    self._open(stack, saved)
                    opened = True
                    self.results.write_about("running", self.done)
                    watcher.started(self.setup, self.done)
                    stack.callback(watcher.ended)
                    self._rounds(watcher, checkpoint_every, interrupted)
                finished = len(self.done) >= self.setup.rounds
                if finished:
                    self.results.write_model(self.simulation.model, self.setup.places)
                self.results.write_about("done" if finished else "interrupted", self.done)
                self.pool.close()
            except (Exception, KeyboardInterrupt) as error:
                if opened or saved is None:
                    with suppress(OSError):  # there may be no room for it
                        self.results.write_about(_state(error), self.done, why=_why(error))
                if isinstance(error, InputError) and not (opened and self.done):
                    raise  # nothing was done
                kind = Interrupted if isinstance(error, KeyboardInterrupt) else Stopped
                raise kind(self._explain(error)) from error
        summary = summarize(self.done)
        return RunResult(
            folder=self.results.folder,
            finished=finished,
            interrupted=interrupted.is_set(),
            summary=summary,
            metrics=self.setup.task.metrics,
        )

    def _has_begun(self) -> bool:
        """Whether a round was done since the start: something that is worth the end of the next."""
        return len(self.done) > self.before

    def _open(self, stack: ExitStack, saved: Checkpoint | None) -> None:
        """The store, the workers, and the state to go on from."""
        path, shape = checkpoints.store_path(self.results.checkpoint), self.setup.shape
        if saved is None:
            create(path, shape)
        self.store = DeviceStore(path, shape)
        stack.callback(self.store.close)
        self.pool = open_pool(self.setup, path, shape, self.workers)
        stack.callback(self.pool.stop)
        self.simulation = Simulation(self.setup, self.pool, self.store, self.updates)
        if saved is None:
            self.save()
        else:
            self.restore(saved)

    def restore(self, saved: Checkpoint) -> None:
        """Go back to a checkpoint."""
        saved.check_sizes(len(self.setup.theta), len(self.pool.common))
        saved.check_store(self.store)
        slots = np.frombuffer(saved.slots, dtype=np.int8)
        self.simulation.restore(saved.server, slots, saved.common_steps, saved.average)
        self.pool.common[:] = saved.common
        self.done = self.results.truncate(saved.sizes)
        self.results.write_config(self.setup.experiment)
        disk.unlink(self.results.model)  # of fewer rounds

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
                average=simulation.average,
                save_updates=tuple(sorted(self.updates.rounds)),
                digests=self.store.digests(simulation.slots).astype("<i8").tobytes(),
                settings=self.setup.experiment.toml(),
            ),
        )
        simulation.commit()
        self.saved = simulation.server.round

    def _rounds(
        self, watcher: Watcher, checkpoint_every: float, interrupted: threading.Event
    ) -> None:
        last, spent = time.monotonic(), 0.0
        while len(self.done) < self.setup.rounds and not interrupted.is_set():
            record, ledger = self.simulation.run_round(spent)
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
            self.save()  # the wish to stop came after the last check

    def _explain(self, error: BaseException) -> str:
        """What happened, and how to go on."""
        folder = self.results.folder
        what = str(error)
        if isinstance(error, KeyboardInterrupt):
            what = "stopped at once" if self._has_begun() else "stopped before the first round"
        elif not isinstance(error, LossyflError | OSError):
            what = "".join(traceback.format_exception(error)).rstrip()  # somebody's own code
        if isinstance(error, Diverged | InputError):
            advice = "use other settings, and another --out or --force"
            whole = f"the checkpoint of round {self.saved} is whole, " if self.saved >= 0 else ""
            where = f"{whole}results so far are in {folder}"
            return f"{what}\nit would be the same again: {advice}; {where}"
        if self.saved < 0 and isinstance(error, KeyboardInterrupt) and not self.done:
            return f"{what}: there is nothing to keep, the same command begins anew"
        if self.saved < 0:
            return f"{what}\nno checkpoint was written; results so far are in {folder}"
        command = f"lossyfl resume {shlex.quote(str(folder))}"
        return (
            f"{what}\nthe checkpoint of round {self.saved} is whole: `{command}` goes on from there"
        )


def _state(error: BaseException) -> State:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return "diverged" if isinstance(error, Diverged) else "stopped"


def _why(error: BaseException) -> str:
    """What stopped a run, in one line; empty if somebody wished it."""
    if isinstance(error, KeyboardInterrupt):
        return ""
    said, *_ = str(error).splitlines() or [""]
    expected = isinstance(error, LossyflError)
    return said if expected else ": ".join(filter(None, (type(error).__name__, said)))
