"""What a worker does: devices one after the other, and parts of the test set."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lossyfl.errors import Diverged
from lossyfl.results.experiment import Experiment
from lossyfl.simulation.setup import Setup, prepare
from lossyfl.simulation.store import FRESH, DeviceStore, create
from lossyfl.simulation.work import DeviceJob, DeviceJobs, EvaluationJob, WorkerContext
from lossyfl.tasks.training import OptimizerMoments, Trainer, chunks

BASE = Experiment(task="tests.simulation.tiny:make_task", scheme="lfl")
FIRST = DeviceJob(device=3, accepted=-1, source=FRESH, target=0, late=False)


@contextmanager
def working(folder: Path, asked: Experiment = BASE) -> Generator[tuple[Setup, WorkerContext]]:
    """A worker's context in this process."""
    setup = prepare(asked)
    create(folder / "devices.bin", setup.shape)
    store = DeviceStore(folder / "devices.bin", setup.shape)
    trainer = Trainer(setup.task, setup.parts, setup.local, seed=asked.seed)
    common = np.zeros(setup.common, dtype=np.float32)
    try:
        yield setup, WorkerContext(trainer, setup.scheme, store, setup.theta.copy(), common)
    finally:
        store.close()


def test_a_reply_is_that_of_a_complete_device(tmp_path: Path) -> None:
    with working(tmp_path) as (_, context):
        result = context.run(FIRST, 0, 0)
        trained = context.trainer.train(3, 0, context.shared.copy(), OptimizerMoments())
        kept = context.store.read(3, 0)
    assert (result.device, result.late) == (3, False)
    assert result.loss == trained.loss
    assert result.frame
    assert kept.accepted == 0
    assert result.training > 0
    assert result.coding > 0


def test_the_slot_that_a_job_goes_on_from_is_left_as_it_is(tmp_path: Path) -> None:
    """So that a run which is killed in between can do the same again, to the bit."""
    with working(tmp_path) as (_, context):
        first = context.run(FIRST, 0, 0)
        again = replace(FIRST, source=0, target=1, accepted=0)
        one = context.run(again, 1, 0)
        other = context.run(again, 1, 0)
        assert one.frame == other.frame != first.frame


def test_what_is_measured_does_not_depend_on_the_slot_that_is_written(tmp_path: Path) -> None:
    with working(tmp_path) as (_, context):
        context.run(FIRST, 0, 0)
        again = replace(FIRST, source=0, target=1, accepted=0)
        other = context.run(again, 1, 0)
        same = context.run(replace(again, target=0), 1, 0)
        assert same.frame == other.frame
        assert same.measured == other.measured


def test_devices_of_a_job_take_their_turns_with_common_moments(tmp_path: Path) -> None:
    carried = replace(BASE, optimizer="adam:moments=carried", lr="0.01")
    with working(tmp_path, carried) as (_, context):
        jobs = DeviceJobs(
            round=0, common_steps=0, more_steps=2, jobs=(FIRST, replace(FIRST, device=4))
        )
        results = jobs.do(context)
        assert [result.device for result in results] == [3, 4]
        after = context.common.copy()
        context.common[:] = 0
        context.run(FIRST, 0, 0)
        assert not np.array_equal(context.common, after)
        context.run(replace(FIRST, device=4), 0, 2)
        assert np.array_equal(context.common, after)


def test_a_model_that_is_not_finite_names_device_and_round(tmp_path: Path) -> None:
    huge = replace(BASE, task="tests.simulation.tiny:huge", lr="1", tau=1)
    with (
        working(tmp_path, huge) as (_, context),
        pytest.raises(Diverged, match=r"device 3 .*round 7"),
    ):
        context.run(FIRST, 7, 0)


def test_chunks_of_the_test_set_add_up(tmp_path: Path) -> None:
    with working(tmp_path) as (setup, context):
        scores = [EvaluationJob(chunk=chunk).do(context) for chunk in range(chunks(setup.task))]
    assert [each.chunk for each in scores] == list(range(len(scores)))
    assert sum(each.score.samples for each in scores) == len(setup.task.test)
