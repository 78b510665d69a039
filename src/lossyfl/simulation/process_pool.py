"""A pool of worker processes.

Jobs are handed out as workers become free, two to each so that none waits; results come as they are
done. Who does what, and when, changes nothing in the result.

Workers are forked from a server process that has imported everything (multiprocessing's "forkserver").
Samples and models lie in shared memory, devices' states in the store's file: only replies travel.
"""

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, TypeVar, cast

from lossyfl.errors import Diverged, InputError, LossyflError, Stopped
from lossyfl.extras import of_extra
from lossyfl.simulation.memory import keep_freed_memory
from lossyfl.simulation.setup import Setup
from lossyfl.simulation.store import StoreShape
from lossyfl.simulation.warm import warm_up
from lossyfl.simulation.work import Job
from lossyfl.simulation.worker_spec import WorkerSpec, worker_spec

with of_extra("sim"):
    import torch

A = TypeVar("A")
AHEAD = 2
"""Jobs that a worker has at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobFailure:
    """A job that raised: what to tell, and where it came from if nobody expected it."""

    message: str
    trace: str


class ProcessPool:
    """Worker processes with one thread each."""

    def __init__(self, setup: Setup, store: Path, shape: StoreShape, workers: int) -> None:
        self.workers = workers
        context = warm_up()
        spec = worker_spec(setup, store, shape)
        self.shared, self.common = spec.shared.open(), spec.common.open()
        self._connections: list[Connection] = []
        self._processes: list[Any] = []
        try:
            for _ in range(workers):
                here, there = context.Pipe()
                process = context.Process(target=_serve, args=(there, spec), daemon=True)
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
        """The results as they are done."""
        waiting = iter(jobs)
        open_jobs = dict.fromkeys(self._connections, 0)
        for connection in self._connections * AHEAD:
            self._send_next(connection, waiting, open_jobs)
        while busy := [c for c, count in open_jobs.items() if count]:
            for ready in cast("list[Connection]", wait(busy)):
                result = self._receive(ready)
                open_jobs[ready] -= 1
                self._send_next(ready, waiting, open_jobs)
                yield cast("A", result)

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
            result = connection.recv()
        except (EOFError, OSError):
            process = self._processes[self._connections.index(connection)]
            process.join(timeout=5)
            raise Stopped(
                f"a worker process ended by itself ({_reason(process.exitcode)})"
            ) from None
        if isinstance(result, Diverged | InputError):
            raise result
        if isinstance(result, JobFailure):
            raise Stopped(f"{result.message}\n{result.trace}".rstrip())
        return result


def _serve(connection: Connection, spec: WorkerSpec) -> None:
    """A worker's life: build the context, then do jobs until told to end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the run decides when to stop
    torch.set_num_threads(1)
    keep_freed_memory()
    threading.Thread(target=_end_with_the_run, daemon=True).start()
    try:
        context = spec.build()
        connection.send("ready")
        while (job := connection.recv()) is not None:
            connection.send(job.do(context))
    except (Diverged, InputError) as error:
        connection.send(error)
    except LossyflError as error:
        connection.send(JobFailure(message=str(error), trace=""))
    except (EOFError, BrokenPipeError, ConnectionResetError):
        return  # the run is gone
    except Exception as error:
        trace = traceback.format_exc()
        connection.send(JobFailure(message=f"{type(error).__name__}: {error}", trace=trace))


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
