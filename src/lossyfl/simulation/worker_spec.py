"""What a worker process is handed when it starts, and builds its context from.

Samples and models lie in memory that all processes share.
"""

from dataclasses import dataclass, replace
from multiprocessing.sharedctypes import RawArray
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lossyfl.protocol.scheme import Scheme
from lossyfl.simulation.setup import Setup
from lossyfl.simulation.store import DeviceStore, StoreShape
from lossyfl.simulation.work import WorkerContext
from lossyfl.tasks.base import Parts, Samples, Task
from lossyfl.tasks.training import Local, Trainer


class SharedArray:
    """An array in memory that worker processes share; handed to a process when it starts."""

    def __init__(self, array: NDArray[Any]) -> None:
        self._raw = RawArray("b", max(array.nbytes, 1))
        self._shape, self._dtype = array.shape, array.dtype
        self.open()[...] = array

    def open(self) -> NDArray[Any]:
        """The array, in the memory that all processes share."""
        count = int(np.prod(self._shape, dtype=np.int64))
        return np.frombuffer(self._raw, dtype=self._dtype, count=count).reshape(self._shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSpec:
    """What a worker builds its context from.

    task: without its samples, which are `arrays`: training inputs and targets, test inputs and targets
    """

    task: Task
    arrays: tuple[SharedArray, SharedArray, SharedArray, SharedArray]
    parts: Parts
    scheme: Scheme
    local: Local
    seed: int
    store: Path
    shape: StoreShape
    shared: SharedArray
    common: SharedArray

    def build(self) -> WorkerContext:
        """The context that this worker does its jobs in, with its own model and store."""
        x, y, test_x, test_y = (array.open() for array in self.arrays)
        train, test = Samples(x=x, y=y), Samples(x=test_x, y=test_y)
        task = replace(self.task, train=train, test=test)
        trainer = Trainer(task, self.parts, self.local, seed=self.seed)
        store = DeviceStore(self.store, self.shape)
        return WorkerContext(trainer, self.scheme, store, self.shared.open(), self.common.open())


def worker_spec(setup: Setup, store: Path, shape: StoreShape) -> WorkerSpec:
    """The spec of a run's workers, with copies of its samples that they share."""
    task = setup.task
    empty = Samples(x=np.zeros(0), y=np.zeros(0))
    train, test = task.train, task.test
    return WorkerSpec(
        task=replace(task, train=empty, test=empty, parts=None),
        arrays=(
            SharedArray(train.x),
            SharedArray(train.y),
            SharedArray(test.x),
            SharedArray(test.y),
        ),
        parts=setup.parts,
        scheme=setup.scheme,
        local=setup.local,
        seed=setup.experiment.seed,
        store=store,
        shape=shape,
        shared=SharedArray(setup.theta),
        common=SharedArray(np.zeros(setup.common, dtype=np.float32)),
    )
