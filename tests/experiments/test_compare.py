"""Comparisons: planned once, stopped and repeated at will."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from lossyfl import InputError
from lossyfl.experiments.compare import go_on, plan, settled
from lossyfl.results.experiment import Experiment
from lossyfl.results.records import read_rounds
from lossyfl.simulation.watcher import Silent

BASE = settled(Experiment(task="tests.simulation.tiny:make_task", rounds=4), None)
SCHEMES = ["lossless", "lfl:q1=2,q2=2"]


def test_seed_by_seed_each_in_a_folder(tmp_path: Path) -> None:
    runs = plan(replace(BASE, seed=5), SCHEMES, 2, tmp_path)
    assert [run.folder.name for run in runs] == [
        "lossless-5", "lfl-q1=2-q2=2-5", "lossless-6", "lfl-q1=2-q2=2-6"
    ]  # fmt: skip
    assert [run.experiment.seed for run in runs] == [5, 5, 6, 6]


def test_what_is_complete_stays_and_what_is_short_goes_on(tmp_path: Path) -> None:
    for run in plan(BASE, SCHEMES, 1, tmp_path):
        go_on(run, workers=1, data_dir=None, watcher=Silent())
    first, _ = plan(BASE, SCHEMES, 1, tmp_path)
    assert first.is_complete
    longer, _ = plan(replace(BASE, rounds=7), SCHEMES, 1, tmp_path)
    assert not longer.is_complete
    before = (longer.folder / "rounds.jsonl").read_text()
    go_on(longer, workers=1, data_dir=None, watcher=Silent())
    after = (longer.folder / "rounds.jsonl").read_text()
    assert after.startswith(before)
    assert len(read_rounds(longer.folder / "rounds.jsonl")) == 7


def test_the_same_batches_for_all(tmp_path: Path) -> None:
    """In round 0 all devices train from the same model on the same batches, whatever the scheme."""
    losses: set[float | None] = set()
    for run in plan(replace(BASE, rounds=1), SCHEMES, 1, tmp_path):
        go_on(run, workers=1, data_dir=None, watcher=Silent())
        losses.add(read_rounds(run.folder / "rounds.jsonl")[0].train_loss)
    assert len(losses) == 1


def test_another_comparison_is_not_mixed_in(tmp_path: Path) -> None:
    for run in plan(BASE, SCHEMES, 1, tmp_path):
        go_on(run, workers=1, data_dir=None, watcher=Silent())
    with pytest.raises(InputError, match=r"tau of this comparison must be 2, as in .*got 3"):
        plan(replace(BASE, tau=3), SCHEMES, 1, tmp_path)


@pytest.mark.parametrize("schemes", [[], ["lb", "lb"]])
def test_schemes_are_named_once(schemes: list[str], tmp_path: Path) -> None:
    with pytest.raises(InputError, match="schemes of a comparison must be at least one, each once"):
        plan(BASE, schemes, 1, tmp_path)


def test_at_least_one_seed(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="seeds of a comparison must be an int >= 1"):
        plan(BASE, SCHEMES, 0, tmp_path)


def test_a_typo_is_found_before_anything_is_trained(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="did you mean lfl"):
        plan(BASE, ["lossless", "lfll"], 1, tmp_path)
    assert not any(tmp_path.iterdir())


def test_what_was_trained_is_never_removed(tmp_path: Path) -> None:
    (run,) = plan(BASE, ["lossless"], 1, tmp_path)
    go_on(run, workers=1, data_dir=None, watcher=Silent())
    shutil.rmtree(run.folder / "checkpoint")
    (run.folder / "model.safetensors").unlink()
    assert plan(BASE, ["lossless"], 1, tmp_path)[0].is_complete
    with pytest.raises(InputError, match="its checkpoint is gone"):
        plan(replace(BASE, rounds=9), ["lossless"], 1, tmp_path)
    with pytest.raises(InputError, match="rounds of this comparison must be at least 4"):
        plan(replace(BASE, rounds=2), ["lossless"], 1, tmp_path)


def test_settings_left_out_are_the_tasks_not_the_folders(tmp_path: Path) -> None:
    (run,) = plan(replace(BASE, lr="0.9"), ["lossless"], 1, tmp_path)
    go_on(run, workers=1, data_dir=None, watcher=Silent())
    with pytest.raises(InputError, match=r"lr of this comparison must be 0.9"):
        plan(BASE, SCHEMES, 1, tmp_path)
