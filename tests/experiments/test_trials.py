"""What schemes came to, from results directories."""

from pathlib import Path

import pytest
from tests.commands.test_run import TINY

from lossyfl.experiments.compare import go_on, plan, settled
from lossyfl.experiments.outcome import outcome
from lossyfl.experiments.trials import Trial, failure, frontier, trial
from lossyfl.results.experiment import Experiment
from lossyfl.simulation.watcher import Silent


def test_a_trial_is_the_mean_of_its_seeds(tmp_path: Path) -> None:
    runs = plan(settled(Experiment(task=TINY, rounds=3), None), ["lfl"], 2, tmp_path)
    for run in runs:
        go_on(run, workers=1, data_dir=None, watcher=Silent())
    folders = [run.folder for run in runs]
    found, ones = trial("lfl", folders), [outcome(folder) for folder in folders]
    assert found.values == tuple(each.value for each in ones if each)
    assert found.value == pytest.approx(sum(found.values) / 2)
    assert found.down == sum(each.down for each in ones if each) / 2
    assert found.folders == tuple(folders)


def test_nothing_is_a_failure(tmp_path: Path) -> None:
    assert trial("lfl", [tmp_path / "none"]).failed == "never evaluated"
    assert failure("lfl", "diverged").value == 0


def test_what_failed_is_not_on_the_frontier() -> None:
    good = Trial(scheme="a", values=(0.5, 0.7), down=2, up=2)
    less = Trial(scheme="b", values=(0.6,), down=2, up=3)
    small = Trial(scheme="c", values=(0.1,), down=1, up=1)
    assert frontier([good, less, small, failure("d", "diverged")]) == [good, small]
