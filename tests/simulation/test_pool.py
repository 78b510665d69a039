"""Work in this process, and what worker processes can be handed."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
import torch

from lossyfl import InputError
from lossyfl.results.experiment import Experiment
from lossyfl.simulation.pool import LocalPool, Pool, check_portable, open_pool
from lossyfl.simulation.process_pool import ProcessPool
from lossyfl.simulation.run import run
from lossyfl.simulation.setup import prepare
from lossyfl.simulation.store import create
from lossyfl.simulation.work import EvaluationJob
from lossyfl.tasks.training import chunks

TINY = "tests.simulation.tiny"
BASE = Experiment(task=f"{TINY}:make_task")


@contextmanager
def opened(workers: int, folder: Path, asked: Experiment = BASE) -> Generator[Pool]:
    """A pool for a run of the tiny task."""
    setup = prepare(asked)
    path = folder / f"{workers}.bin"
    create(path, setup.shape)
    pool = open_pool(setup, path, setup.shape, workers)
    try:
        yield pool
    finally:
        pool.stop()


def test_one_worker_is_this_process_and_more_are_others(tmp_path: Path) -> None:
    with opened(1, tmp_path) as one, opened(2, tmp_path) as two:
        assert isinstance(one, LocalPool)
        assert isinstance(two, ProcessPool)
        assert (one.workers, two.workers) == (1, 2)


def test_all_pools_do_the_same(tmp_path: Path) -> None:
    task = prepare(BASE).task
    scores: list[dict[int, object]] = []
    for workers in (1, 2):
        with opened(workers, tmp_path) as pool:
            pool.shared[:] = 0.5
            jobs = [EvaluationJob(chunk=chunk) for chunk in range(chunks(task))]
            scores.append({each.chunk: each.score for each in pool.run(jobs)})
            assert list(pool.run([])) == []
    assert scores[0] == scores[1]
    assert len(scores[0]) == chunks(task)


def test_torch_has_one_thread_while_this_process_works(tmp_path: Path) -> None:
    before = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        with opened(1, tmp_path):
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)


def test_functions_of_a_task_can_be_imported_by_workers(tmp_path: Path) -> None:
    asked = replace(BASE, task=f"{TINY}:local_function")
    with pytest.raises(InputError, match="loss of the task tiny must be a function that can be"):
        run(asked, tmp_path / "out", workers=2)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["model", "prepare", "loss", "score"])
def test_every_function_of_a_task_is_checked(name: str) -> None:
    setup = prepare(BASE)
    check_portable(setup)
    task = replace(setup.task, **{name: lambda *_: None})  # type: ignore[arg-type]
    with pytest.raises(
        InputError, match=f"{name}.* of the task tiny must be a function that can be"
    ):
        check_portable(replace(setup, task=task))


def test_what_only_a_notebook_has_is_refused_with_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    setup = prepare(BASE)
    monkeypatch.setattr(Here, "__module__", "__main__")
    monkeypatch.setitem(sys.modules, "__main__", session := ModuleType("__main__"))
    session.Here = Here  # type: ignore[attr-defined]
    mine = replace(setup, task=replace(setup.task, model=Here))
    with pytest.raises(InputError, match="write it to a file beside this notebook"):
        check_portable(mine)
    session.__file__ = "script.py"  # which worker processes import
    check_portable(mine)


class Here:
    """Stands for a class that a cell of a notebook has defined."""
