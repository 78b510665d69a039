"""A whole run: from an experiment to a results directory, with checkpoints on the way.

run       from the beginning
resume    from the last checkpoint, to the same bits as if nothing had happened
"""

import shlex
import signal
import threading
import time
import traceback
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Protocol

import numpy as np

from lossyfl.errors import Diverged, InputError, Interrupted, LossyflError, Stopped
from lossyfl.files import disk
from lossyfl.results.directory import Results, State, Summary, summarize
from lossyfl.results.experiment import Experiment
from lossyfl.results.records import Round, read_rounds
from lossyfl.simulation import checkpoint as checkpoints
from lossyfl.simulation.checkpoint import Checkpoint
from lossyfl.simulation.pool import check_portable, open_pool
from lossyfl.simulation.rounds import Simulation
from lossyfl.simulation.setup import Setup, prepare
from lossyfl.simulation.store import Store, create, wait_until_alone
from lossyfl.simulation.updates import Updates


class Watcher(Protocol):
    """Someone who is told how a run goes."""

    def preparing(self, what: str) -> None:
        """What is done before the first round, and may take a while."""
        ...

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

    def preparing(self, what: str) -> None:
        """Say nothing."""

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
    """How a run ended: `finished`, or not; `interrupted`, if somebody wished that, after a whole round."""

    folder: Path
    finished: bool
    interrupted: bool
    summary: Summary


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
) -> Outcome:
    """Run an experiment into a new results directory.

    workers:          processes; the result is the same for any number
    checkpoint_every: seconds from one checkpoint to the next
    force:            replace the run that `out` holds
    save_updates:     rounds whose vectors are kept (`lossyfl.simulation.updates`)
    """
    _check(workers, checkpoint_every)
    results = Results(out)
    results.check_free(force=force)
    watcher = watcher or Silent()
    watcher.preparing(f"loading the data of {experiment.task}")
    setup = prepare(experiment, data_dir)
    _check_updates(save_updates, setup.rounds)
    if workers > 1:
        check_portable(setup.task)
    with results.locked(), _disk_errors(out):
        results.check_free(force=force)  # again: another run may have been quicker
        results.clear()
        results.create(setup.experiment)
        journey = _Journey(setup, results, workers, data_dir, save_updates)
        return journey.go(watcher, checkpoint_every, None)


def resume(
    out: Path,
    *,
    rounds: int | None = None,
    workers: int = 1,
    data_dir: Path | None = None,
    checkpoint_every: float = 30.0,
    save_updates: frozenset[int] = frozenset(),
    watcher: Watcher | None = None,
) -> Outcome:
    """Go on with a run that was interrupted or killed, or add rounds to one that is done.

    save_updates: beside those that were asked for when the run began
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
        setup = prepare(settings, folder)
        saved.check_settings(setup.experiment)
        _check_updates(save_updates, setup.rounds, done=saved.server.round + 1)
        if workers > 1:
            check_portable(setup.task)
        wait_until_alone(checkpoints.store_path(results.checkpoint))
        wanted = save_updates | frozenset(saved.save_updates)
        journey = _Journey(setup, results, workers, folder, wanted)
        return journey.go(watcher, checkpoint_every, saved)


class _Journey:
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
        self.updates = Updates(folder=results.updates, rounds=save_updates)
        self.done: list[Round] = []
        self.before = 0
        self.saved = -1

    def go(self, watcher: Watcher, checkpoint_every: float, saved: Checkpoint | None) -> Outcome:
        """All rounds that are left, from a checkpoint if there is one."""
        finished = opened = False
        interrupted = threading.Event()
        if saved is not None:
            self.done = read_rounds(self.results.rounds)[: saved.server.round + 1]
            self.saved = saved.server.round
        self.before = len(self.done)
        with ExitStack() as stack:
            try:
                with _interrupts(watcher, interrupted, self._has_begun):
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
        return Outcome(
            folder=self.results.folder,
            finished=finished,
            interrupted=interrupted.is_set(),
            summary=summary,
        )

    def _has_begun(self) -> bool:
        """Whether a round was done since the start: something that is worth the end of the next."""
        return len(self.done) > self.before

    def _open(self, stack: ExitStack, saved: Checkpoint | None) -> None:
        """The store, the workers, and the state to go on from."""
        path, shape = checkpoints.store_path(self.results.checkpoint), self.setup.shape
        if saved is None:
            create(path, shape)
        self.store = Store(path, shape)
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


@contextmanager
def _disk_errors(out: Path) -> Generator[None]:
    """Say what a disk did before the first round; what it does later is told by the run under way."""
    try:
        yield
    except OSError as error:
        raise Stopped(
            f"{error}\nnothing was done in {out}: the same command does it again"
        ) from error


@contextmanager
def _interrupts(
    watcher: Watcher, wished: threading.Event, has_begun: Callable[[], bool]
) -> Generator[None]:
    """Have Ctrl-C or a request to end set an event; the second one, or one before a round, stops at once."""

    def wish(number: int, frame: FrameType | None) -> None:
        del number, frame
        if wished.is_set() or not has_begun():
            raise KeyboardInterrupt
        wished.set()
        watcher.stopping()

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread hears signals
        return
    before = {number: signal.signal(number, wish) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


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
