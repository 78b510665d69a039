"""What a worker is handed: samples in shared memory, and a context built from it."""

from pathlib import Path

import numpy as np
import pytest

from lossyfl.results.experiment import Experiment
from lossyfl.simulation.setup import prepare
from lossyfl.simulation.store import create
from lossyfl.simulation.worker_spec import SharedArray, worker_spec


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.float32).reshape(2, 3),
        np.zeros((0, 4), dtype=np.uint8),
        np.array(7, dtype=np.int64),
    ],
    ids=["matrix", "empty", "scalar"],
)
def test_a_shared_array_is_the_same_memory_for_all(array: np.ndarray) -> None:
    shared = SharedArray(array)
    one, other = shared.open(), shared.open()
    assert one.dtype == array.dtype
    assert one.shape == array.shape
    assert np.array_equal(one, array)
    one[...] = 1
    assert np.array_equal(other, one)


def test_a_context_has_the_runs_samples_and_vectors(tmp_path: Path) -> None:
    asked = Experiment(task="tests.simulation.tiny:divided", devices=2)
    setup = prepare(asked)
    create(tmp_path / "devices.bin", setup.shape)
    spec = worker_spec(setup, tmp_path / "devices.bin", setup.shape)
    assert len(spec.task.train) == len(spec.task.test) == 0  # they are in `arrays`, and there only
    assert spec.task.parts is None
    context = spec.build()
    task = context.trainer.task
    for mine, theirs in ((task.train, setup.task.train), (task.test, setup.task.test)):
        assert np.array_equal(mine.x, theirs.x)
        assert np.array_equal(mine.y, theirs.y)
    assert np.array_equal(context.shared, setup.theta)
    context.shared[0] = 5
    assert spec.shared.open()[0] == 5
    assert context.common.shape == (setup.common,)
    context.store.close()
