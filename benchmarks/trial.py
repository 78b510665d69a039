"""Simulations to be timed: rounds without an evaluation, in a folder that is removed afterwards."""

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from lossyfl.results.experiment import Experiment
from lossyfl.simulation.pool import open_pool
from lossyfl.simulation.rounds import Simulation
from lossyfl.simulation.setup import Setup
from lossyfl.simulation.store import DeviceStore, create

MANY = 1_000_000
"""Rounds that are planned, so that the last one, which is evaluated, never comes."""


def experiment(task: str, devices: int, batch: int, tau: int = 4) -> Experiment:
    """The settings of a run with LFL."""
    return Experiment(
        task=task,
        scheme="lfl:q1=2,q2=2",
        rounds=MANY,
        devices=devices,
        tau=tau,
        batch=batch,
        optimizer="sgd",
        lr="0.01",
        partition="iid",
        evaluate_every=MANY,
    )


@contextmanager
def simulation(setup: Setup, workers: int) -> Generator[Simulation]:
    """A simulation in a folder that is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path, shape = Path(folder) / "devices.bin", setup.shape
        create(path, shape)
        pool, store = open_pool(setup, path, shape, workers), DeviceStore(path, shape)
        try:
            yield Simulation(setup, pool, store)
        finally:
            store.close()
            pool.close()
