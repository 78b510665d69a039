"""Sweeps: planned once, nothing run twice, stopped and repeated at will."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.commands.test_run import TINY

from lossyfl import InputError
from lossyfl.experiments.compare import go_on
from lossyfl.experiments.grid import axis
from lossyfl.experiments.side_by_side import Begun, Event
from lossyfl.experiments.sweep import SweepPlan, identity, plan_sweep, result_of, sweep
from lossyfl.results.experiment import Experiment
from lossyfl.simulation.watcher import Silent

BASE = Experiment(task=TINY, rounds=2)


def planned(out: Path, *texts: str, seeds: int = 1, baseline: str = "") -> SweepPlan:
    return plan_sweep([axis(text) for text in texts], BASE, seeds, out, baseline)


def test_points_that_are_the_same_experiment_are_run_once(tmp_path: Path) -> None:
    """Lossless links have no q1; 2 steps, q2=2 and a step size of 0.5 are what holds without a word."""
    plan = planned(tmp_path, "scheme=lossless,lfl,lfl(q2=2)", "q1=2,5", "tau=1,2")
    assert len(plan.points) == 12
    assert len(plan.runs) == 2 + 2 * 2
    again = planned(tmp_path, "lr=0.5,0.50", "q1=2")
    assert len(again.runs) == 1
    assert again.runs[0].folder in {run.folder for run in plan.runs}


def test_seed_by_seed_so_that_every_point_has_its_first_one_early(tmp_path: Path) -> None:
    runs = planned(tmp_path, "q1=1,5", seeds=3).runs
    assert [run.experiment.seed for run in runs] == [0, 0, 1, 1, 2, 2]
    assert [run.name for run in runs[:2]] == ["q1=1, seed 0", "q1=5, seed 0"]


def test_other_settings_are_other_folders(tmp_path: Path) -> None:
    names = [
        run.folder.name
        for text in ("tau=1,3", "devices=5", "rounds=3", "evaluate=devices", "lr=0.1")
        for run in planned(tmp_path, text).runs
    ]
    assert len(set(names)) == 6
    assert all(name.startswith("lfl-0-") for name in names)


def test_nothing_that_is_complete_is_run_again(tmp_path: Path) -> None:
    first = sweep({"q1": [1, 5]}, base=BASE, out=tmp_path, jobs=2)
    assert all(run.is_complete for run in first.plan.runs)
    begun = list[int]()

    def listen(index: int, event: Event) -> None:
        if isinstance(event, Begun):
            begun.append(index)

    more = sweep({"q1": [1, 5, 3]}, base=BASE, out=tmp_path, jobs=1, listener=listen)
    assert begun == [0]  # of those that are left
    assert [more.values(k) for k in range(2)] == [first.values(k) for k in range(2)]
    assert None not in more.values(2)


def test_the_same_in_another_spelling_is_found(tmp_path: Path) -> None:
    (first,) = planned(tmp_path, "scheme=lfl(q1=5,q2=2)").runs
    go_on(first, workers=1, data_dir=None, watcher=Silent())
    (second,) = planned(tmp_path, "q1=5").runs
    assert second.folder == first.folder
    assert second.is_complete
    assert second.experiment == first.experiment


def test_a_folder_with_another_run_is_refused(tmp_path: Path) -> None:
    (first,) = planned(tmp_path, "q1=5").runs
    (other,) = planned(tmp_path, "q1=7").runs
    go_on(first, workers=1, data_dir=None, watcher=Silent())
    shutil.move(first.folder, other.folder)
    with pytest.raises(InputError, match="scheme of this comparison must be lfl:q1=5,q2=2, as in"):
        planned(tmp_path, "q1=7")


def test_a_baseline_has_the_other_settings_of_each_point(tmp_path: Path) -> None:
    plan = planned(tmp_path, "q1=1,5", "tau=1,2", baseline="lossless")
    assert [point.values for point in plan.baselines] == [("", "1"), ("", "2")]
    assert [point.baseline for point in plan.points] == [0, 1, 0, 1]
    assert {run.experiment.scheme for run in plan.runs[:2]} == {"lossless"}
    assert len(plan.runs) == 6


def test_wrong_words_are_found_before_anything_is_trained(tmp_path: Path) -> None:
    for text, message in (
        ("scheme=lossless,lf", "did you mean lfl"),
        ("q1=2,0", "levels of Stochastic must be"),
        ("lr=0.1,-1", "lr of local training must be a number > 0"),
        ("task=digits,dgits", "did you mean digits"),
    ):
        with pytest.raises(InputError, match=message):
            sweep(
                {text.partition("=")[0]: text.partition("=")[2].split(",")}, base=BASE, out=tmp_path
            )
    with pytest.raises(InputError, match="batch of a run must be"):
        sweep({"batch": [4, 4000]}, base=BASE, out=tmp_path)
    with pytest.raises(InputError, match="seeds of a sweep must be an int >= 1, got 0"):
        planned(tmp_path, "q1=1", seeds=0)
    assert not list(tmp_path.rglob("rounds.jsonl"))


def test_what_diverges_stops_no_other(tmp_path: Path) -> None:
    base = Experiment(task="tests.simulation.tiny:breaking", rounds=4, tau=1)
    result = sweep({"lr": [0.1], "scheme": ["lossless", "lb"]}, base=base, out=tmp_path, jobs=1)
    assert [result.values(k) for k in range(2)] == [[None], [None]]


def test_a_result_before_all_is_done(tmp_path: Path) -> None:
    result = result_of(planned(tmp_path, "q1=1,5", seeds=2))
    assert result.outcomes == ((None, None), (None, None))


def test_identity_is_that_of_what_is_not_the_default() -> None:
    usual = Experiment(rounds=100, devices=10)
    assert identity(replace(usual, scheme="lfl:q2=2,q1=2")) == identity(usual)
    assert identity(replace(usual, seed=4)) == identity(usual)
    assert identity(replace(usual, drop_out=0.1)) != identity(usual)
    assert identity(usual) == ("lfl", "devices=10", "rounds=100")
