"""Who does the work: this process, or several worker processes (`process_pool`)."""

import pickle
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Protocol, TypeVar

import numpy as np

from lossyfl.errors import InputError
from lossyfl.extras import of_extra
from lossyfl.simulation.process_pool import ProcessPool
from lossyfl.simulation.setup import Setup
from lossyfl.simulation.store import DeviceStore, StoreShape
from lossyfl.simulation.work import Job, WorkerContext
from lossyfl.tasks.training import Trainer
from lossyfl.types import Vector

with of_extra("sim"):
    import torch

A = TypeVar("A")


class Pool(Protocol):
    """Those who do the work, and the vectors that all of them see."""

    workers: int
    shared: Vector
    common: Vector

    def run(self, jobs: Iterable[Job[A]]) -> Iterator[A]:
        """The results, in any order."""
        ...

    def close(self) -> None:
        """End all, now that they have nothing to do."""
        ...

    def stop(self) -> None:
        """End all at once, whatever they do."""
        ...


def check_portable(setup: Setup) -> None:
    """Raise if a worker process could not be handed the scheme, or one of the task's functions."""
    task = setup.task
    _check_portable("links", f"the scheme {setup.scheme.name}", setup.scheme)
    functions = {name: getattr(task, name) for name in ("model", "prepare", "loss")}
    functions |= {f"score of {each.name}": (each.score, each.final) for each in task.metrics}
    for name, function in functions.items():
        _check_portable(name, f"the task {task.name}", function)


def _check_portable(name: str, of: str, thing: object) -> None:
    """Raise for what has no name that another process could import."""
    try:
        pickled = pickle.dumps(thing)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        allowed = "a function that can be imported, for more than one worker"
        raise InputError(name, of=of, allowed=allowed, got=str(error)) from error
    if b"__main__" in pickled and not hasattr(sys.modules["__main__"], "__file__"):
        allowed = (
            "a function that can be imported, for more than one worker: write it to a file beside this "
            "notebook and import it from there, or run with workers=1"
        )
        got = getattr(thing, "__name__", type(thing).__name__)
        raise InputError(name, of=of, allowed=allowed, got=f"{got}, which only this session has")


def open_pool(setup: Setup, store: Path, shape: StoreShape, workers: int) -> Pool:
    """For one worker this process, for more processes of their own."""
    kind = LocalPool if workers == 1 else ProcessPool
    return kind(setup, store, shape, workers)


class LocalPool:
    """All work in this process, on one thread."""

    def __init__(self, setup: Setup, store: Path, shape: StoreShape, workers: int) -> None:
        self.workers = workers
        self.shared = setup.theta.copy()
        self.common = np.zeros(setup.common, dtype=np.float32)
        self._threads = torch.get_num_threads()
        torch.set_num_threads(1)
        trainer = Trainer(setup.task, setup.parts, setup.local, seed=setup.experiment.seed)
        opened = DeviceStore(store, shape)
        self._context = WorkerContext(trainer, setup.scheme, opened, self.shared, self.common)

    def run(self, jobs: Iterable[Job[A]]) -> Iterator[A]:
        """One job after the other."""
        for job in jobs:
            yield job.do(self._context)

    def close(self) -> None:
        """Close the store, and give torch its threads back."""
        self._context.store.close()
        torch.set_num_threads(self._threads)

    def stop(self) -> None:
        """There is nobody to stop."""
        self.close()
