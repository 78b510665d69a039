"""Several runs of a comparison at the same time, each in a process of its own.

One run is as quick as one core where devices train in turn (`adam:moments=carried`); further cores are for
other runs. What a run gives does not depend on its neighbours.

This process only listens: every run tells how it goes through a pipe. Runs do not hear the terminal's
Ctrl-C, it is passed on to them: once to stop after the round, twice to stop at once. A run whose listener is
gone stops when it next has something to tell, and can be resumed.
"""

import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Literal

from lossyfl.errors import Diverged, InputError, LossyflError, Stopped
from lossyfl.experiments.compare import Planned, go_on
from lossyfl.results.records import Round
from lossyfl.results.task_facts import TaskFacts
from lossyfl.simulation.memory import keep_freed_memory
from lossyfl.simulation.setup import Setup
from lossyfl.simulation.warm import warm_up
from lossyfl.tasks.metrics import ACCURACY, Metric
from lossyfl.tasks.optimizers import optimizer

if TYPE_CHECKING:
    from multiprocessing.context import ForkServerProcess


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A run has begun, or goes on after some rounds, in a process with this number.

    metric: the first one of its task
    """

    process: int
    entries: int
    done: tuple[Round, ...]
    metric: Metric = ACCURACY


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A run is over; `why` is empty if all its rounds are done."""

    state: Literal["done", "diverged", "interrupted", "stopped"]
    why: str = ""


Event = Begun | Round | Ended
Listener = Callable[[int, Event], None]
"""Is told what happened in which run."""


def play_side_by_side(
    runs: Sequence[Planned],
    *,
    jobs: int,
    workers: int,
    data_dir: Path | None,
    listener: Listener | None = None,
) -> bool:
    """Play all runs, at most `jobs` at a time with `workers` each; False if somebody stopped them.

    A run that diverges stops no other. Any other failure stops all after their round, and is raised.
    """
    if jobs < 1:
        raise InputError("jobs", of="a comparison", allowed="an int >= 1", got=jobs)
    crew = _Crew(runs, workers, data_dir, listener or _nobody)
    with crew.hearing_signals():
        crew.play(jobs)
    if crew.failures:
        raise Stopped("\n".join(crew.failures))
    return not crew.stopping


def _nobody(index: int, event: Event) -> None:
    """Hear nothing."""
    del index, event


class _Crew:
    """The processes that play runs."""

    def __init__(
        self, runs: Sequence[Planned], workers: int, data_dir: Path | None, listener: Listener
    ) -> None:
        self.runs, self.workers, self.data_dir, self.listener = runs, workers, data_dir, listener
        self.playing: dict[Connection, tuple[int, ForkServerProcess]] = {}
        self.failures: list[str] = []
        self.stopping = False

    def play(self, jobs: int) -> None:
        """Start runs as others end, until none is left."""
        waiting = deque(range(len(self.runs)))
        try:
            while self.playing or (waiting and not self.stopping):
                while waiting and len(self.playing) < jobs and not self.stopping:
                    self._start(waiting.popleft())
                for pipe in wait(list(self.playing)):
                    assert isinstance(pipe, Connection)
                    self._hear(pipe)
        finally:
            for _, process in self.playing.values():
                process.kill()

    def _start(self, index: int) -> None:
        context = warm_up()
        near, far = context.Pipe(duplex=False)
        process = context.Process(
            target=_play, args=(self.runs[index], self.workers, self.data_dir, far)
        )
        process.start()
        far.close()  # or its end would never be seen
        self.playing[near] = index, process

    def _hear(self, pipe: Connection) -> None:
        index, process = self.playing[pipe]
        try:
            event: Event = pipe.recv()
        except EOFError:
            process.join()
            why = f"the process of {self.runs[index].folder} ended with code {process.exitcode}"
            event = Ended(state="stopped", why=f"{why}; the same command goes on")
        if isinstance(event, Ended):
            pipe.close()
            process.join()
            del self.playing[pipe]
            if event.state == "stopped":
                self.failures.append(event.why)
                self.stop()
        self.listener(index, event)

    def stop(self) -> None:
        """Have all runs stop: after their round, and the second time at once."""
        self.stopping = True
        for _, process in self.playing.values():
            if process.pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGINT)

    @contextmanager
    def hearing_signals(self) -> Generator[None]:
        """Pass Ctrl-C and a request to end on to all runs."""

        def pass_on(number: int, frame: FrameType | None) -> None:
            del number, frame
            self.stop()

        if threading.current_thread() is not threading.main_thread():
            yield  # only the main thread hears signals
            return
        numbers = (signal.SIGINT, signal.SIGTERM)
        before = {number: signal.signal(number, pass_on) for number in numbers}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class _Teller:
    """Watches a run, and tells through a pipe."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def preparing(self, what: str) -> None:
        """The beginning is told when all is ready."""

    def started(self, setup: Setup, done: list[Round]) -> None:
        """Tell what was done before."""
        metric = TaskFacts.of(setup.task).metrics[0]
        begun = Begun(
            process=os.getpid(), entries=len(setup.theta), done=tuple(done), metric=metric
        )
        self._pipe.send(begun)

    def round_done(self, record: Round) -> None:
        """Tell of the round."""
        self._pipe.send(record)

    def stopping(self) -> None:
        """Who asked for it knows."""

    def ended(self) -> None:
        """The end is told by `_play`."""


def _play(planned: Planned, workers: int, data_dir: Path | None, pipe: Connection) -> None:
    """One run, in a process of its own."""
    os.setsid()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    keep_freed_memory()
    pipe.send(_outcome(planned, workers, data_dir, _Teller(pipe)))


def _outcome(planned: Planned, workers: int, data_dir: Path | None, teller: _Teller) -> Ended:
    try:
        outcome = go_on(planned, workers=workers, data_dir=data_dir, watcher=teller)
    except KeyboardInterrupt:
        return Ended(state="interrupted", why="stopped at once")
    except LossyflError as error:
        if isinstance(error.__cause__, Diverged):
            return Ended(state="diverged", why=str(error.__cause__))
        if isinstance(error.__cause__, KeyboardInterrupt):
            return Ended(state="interrupted", why="stopped at once")
        return Ended(state="stopped", why=f"{planned.folder}: {error}")
    if outcome.finished:
        return Ended(state="done")
    return Ended(state="interrupted", why="stopped after its round")


def jobs_for(runs: Sequence[Planned], workers: int) -> int:
    """Runs at a time for so many workers: one, unless devices train in turn and workers would be idle."""
    in_turn = any(optimizer(run.experiment.optimizer or "sgd").moments == "carried" for run in runs)
    return max(1, min(workers, len(runs))) if in_turn else 1
