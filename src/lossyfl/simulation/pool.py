"""Who does the work: this process, or several worker processes.

Jobs are handed out as workers become free, two to each so that none waits; answers come as they are
done. Who does what, and when, changes nothing in the result.

Workers are forked from a server process that has imported everything (multiprocessing's "forkserver").
Samples and models lie in shared memory, devices' states in the store's file: only replies travel.
"""

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.sharedctypes import RawArray
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import Diverged, InputError, LossyflError, Stopped
from lossyfl.extras import of_extra
from lossyfl.protocol.schemes import Scheme
from lossyfl.simulation.memory import keep_freed_memory
from lossyfl.simulation.setup import Setup
from lossyfl.simulation.store import Shape, Store
from lossyfl.simulation.warm import warm_up
from lossyfl.simulation.work import Workshop
from lossyfl.tasks.base import Parts, Samples, Task
from lossyfl.tasks.training import Local, Trainer
from lossyfl.types import Vector

with of_extra("sim"):
    import torch

A = TypeVar("A")
C = TypeVar("C", covariant=True)
AHEAD = 2
"""Jobs that a worker has at once."""


class Job(Protocol[C]):
    """Something that can be done with a workshop."""

    def do(self, workshop: Workshop) -> C:
        """Do it."""
        ...


class Pool(Protocol):
    """Those who do the work, and the vectors that all of them see."""

    workers: int
    shared: Vector
    common: Vector

    def run(self, jobs: Iterable[Job[A]]) -> Iterator[A]:
        """The answers, in any order."""
        ...

    def close(self) -> None:
        """End all, now that they have nothing to do."""
        ...

    def stop(self) -> None:
        """End all at once, whatever they do."""
        ...


def check_portable(task: Task) -> None:
    """Raise if a worker process could not be handed one of the task's functions."""
    for name in ("model", "prepare", "loss", "correct"):
        try:
            pickle.dumps(getattr(task, name))
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            allowed = "a function that can be imported, for more than one worker"
            raise InputError(
                name, of=f"the task {task.name}", allowed=allowed, got=str(error)
            ) from error


def open_pool(setup: Setup, store: Path, shape: Shape, workers: int) -> Pool:
    """For one worker this process, for more processes of their own."""
    kind = Here if workers == 1 else Processes
    return kind(setup, store, shape, workers)


class Here:
    """All work in this process, on one thread."""

    def __init__(self, setup: Setup, store: Path, shape: Shape, workers: int) -> None:
        self.workers = workers
        self.shared = setup.theta.copy()
        self.common = np.zeros(setup.common, dtype=np.float32)
        self._threads = torch.get_num_threads()
        torch.set_num_threads(1)
        trainer = Trainer(setup.task, setup.parts, setup.local, seed=setup.experiment.seed)
        opened = Store(store, shape)
        self._workshop = Workshop(trainer, setup.scheme, opened, self.shared, self.common)

    def run(self, jobs: Iterable[Job[A]]) -> Iterator[A]:
        """One job after the other."""
        for job in jobs:
            yield job.do(self._workshop)

    def close(self) -> None:
        """Close the store, and give torch its threads back."""
        self._workshop.store.close()
        torch.set_num_threads(self._threads)

    def stop(self) -> None:
        """There is nobody to stop."""
        self.close()


class Shared:
    """An array in memory that worker processes share; handed to a process when it starts."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._raw = RawArray("b", max(array.nbytes, 1))
        self._shape, self._dtype = array.shape, array.dtype
        self.open()[...] = array

    def open(self) -> NDArray[Any]:
        """The array itself."""
        count = int(np.prod(self._shape, dtype=np.int64))
        return np.frombuffer(self._raw, dtype=self._dtype, count=count).reshape(self._shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class Blueprint:
    """What a worker builds its workshop from.

    task: without its samples, which are `arrays`: training inputs and targets, test inputs and targets
    """

    task: Task
    arrays: tuple[Shared, Shared, Shared, Shared]
    parts: Parts
    scheme: Scheme
    local: Local
    seed: int
    store: Path
    shape: Shape
    shared: Shared
    common: Shared

    def build(self) -> Workshop:
        """The workshop."""
        x, y, test_x, test_y = (array.open() for array in self.arrays)
        train, test = Samples(x=x, y=y), Samples(x=test_x, y=test_y)
        task = replace(self.task, train=train, test=test)
        trainer = Trainer(task, self.parts, self.local, seed=self.seed)
        store = Store(self.store, self.shape)
        return Workshop(trainer, self.scheme, store, self.shared.open(), self.common.open())


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A job that raised: what to tell, and where it came from if nobody expected it."""

    message: str
    trace: str


class Processes:
    """Worker processes with one thread each."""

    def __init__(self, setup: Setup, store: Path, shape: Shape, workers: int) -> None:
        self.workers = workers
        context = warm_up()
        blueprint = _blueprint(setup, store, shape)
        self.shared, self.common = blueprint.shared.open(), blueprint.common.open()
        self._connections: list[Connection] = []
        self._processes: list[Any] = []
        try:
            for _ in range(workers):
                here, there = context.Pipe()
                process = context.Process(target=_serve, args=(there, blueprint), daemon=True)
                process.start()
                there.close()
                self._connections.append(here)
                self._processes.append(process)
            for connection in self._connections:
                self._receive(connection)  # it is ready, or says why not
        except BaseException:
            self.stop()
            raise

    def run(self, jobs: Iterable[Job[A]]) -> Iterator[A]:
        """The answers as they are done."""
        waiting = iter(jobs)
        open_jobs = dict.fromkeys(self._connections, 0)
        for connection in self._connections * AHEAD:
            self._send_next(connection, waiting, open_jobs)
        while busy := [c for c, count in open_jobs.items() if count]:
            for ready in cast("list[Connection]", wait(busy)):
                answer = self._receive(ready)
                open_jobs[ready] -= 1
                self._send_next(ready, waiting, open_jobs)
                yield cast("A", answer)

    def close(self) -> None:
        """Tell all to end, and wait for them."""
        for connection in self._connections:
            with suppress(OSError):
                connection.send(None)
        for process in self._processes:
            process.join(timeout=5)
        self.stop()

    def stop(self) -> None:
        """Kill those that are left."""
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.join()
        for connection in self._connections:
            connection.close()

    def _send_next(
        self, connection: Connection, jobs: Iterator[Job[A]], open_jobs: dict[Connection, int]
    ) -> None:
        job = next(jobs, None)
        if job is not None:
            try:
                connection.send(job)
            except OSError:
                self._receive(connection)  # says why it is gone
            open_jobs[connection] += 1

    def _receive(self, connection: Connection) -> object:
        try:
            answer = connection.recv()
        except (EOFError, OSError):
            process = self._processes[self._connections.index(connection)]
            process.join(timeout=5)
            raise Stopped(
                f"a worker process ended by itself ({_reason(process.exitcode)})"
            ) from None
        if isinstance(answer, Diverged | InputError):
            raise answer
        if isinstance(answer, Failure):
            raise Stopped(f"{answer.message}\n{answer.trace}".rstrip())
        return answer


def _blueprint(setup: Setup, store: Path, shape: Shape) -> Blueprint:
    task = setup.task
    empty = Samples(x=np.zeros(0), y=np.zeros(0))
    train, test = task.train, task.test
    return Blueprint(
        task=replace(task, train=empty, test=empty, parts=None),
        arrays=(Shared(train.x), Shared(train.y), Shared(test.x), Shared(test.y)),
        parts=setup.parts,
        scheme=setup.scheme,
        local=setup.local,
        seed=setup.experiment.seed,
        store=store,
        shape=shape,
        shared=Shared(setup.theta),
        common=Shared(np.zeros(setup.common, dtype=np.float32)),
    )


def _serve(connection: Connection, blueprint: Blueprint) -> None:
    """A worker's life: build the workshop, then do jobs until told to end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run decides when to stop
    torch.set_num_threads(1)
    keep_freed_memory()
    threading.Thread(target=_end_with_the_run, daemon=True).start()
    try:
        workshop = blueprint.build()
        connection.send("ready")
        while (job := connection.recv()) is not None:
            connection.send(job.do(workshop))
    except (Diverged, InputError) as error:
        connection.send(error)
    except LossyflError as error:
        connection.send(Failure(message=str(error), trace=""))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the run is gone
    except Exception as error:
        trace = traceback.format_exc()
        connection.send(Failure(message=f"{type(error).__name__}: {error}", trace=trace))


def _end_with_the_run() -> None:
    """End this process as soon as the run's is gone: it must not write for one that goes on in its place."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _reason(code: int | None) -> str:
    if code is not None and code < 0:
        return f"signal {signal.Signals(-code).name}"
    return f"exit code {code}"
