"""Runs that differ in the seed only are one group."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.synthetic import SETTINGS, record, write

from lossyfl import InputError
from lossyfl.report.groups import Group, group
from lossyfl.report.runs import find
from lossyfl.results.directory import Results
from lossyfl.results.experiment import Experiment


def groups(folder: Path, *settings: Experiment) -> list[Group]:
    for number, each in enumerate(settings):
        write(folder / f"{number:02}", each)
    return group(find([folder]))


def test_seeds_are_one_group_in_order(tmp_path: Path) -> None:
    (made,) = groups(tmp_path, *(replace(SETTINGS, seed=seed) for seed in (7, 0, 3)))
    assert made.seeds == (0, 3, 7)
    assert made.label == "lfl:q1=2,q2=2"
    assert made.family == "lfl"


def test_any_other_setting_is_another_group_with_a_label_that_says_so(tmp_path: Path) -> None:
    made = groups(
        tmp_path,
        replace(SETTINGS, lr="0.1"),
        replace(SETTINGS, lr="0.2", drop_out=0.1),
        replace(SETTINGS, scheme="lb", lr="0.3"),
    )
    assert [each.label for each in made] == [
        "lb",
        "lfl:q1=2,q2=2, lr 0.1, drop out 0.0",
        "lfl:q1=2,q2=2, lr 0.2, drop out 0.1",
    ]


def test_what_the_server_does_for_all_tells_nothing(tmp_path: Path) -> None:
    adam = "server_optimizer=adam"
    specs = (f"lossless:{adam}", f"lfl:q1=2,{adam}", f"lb:q2=2,{adam}")
    made = groups(tmp_path / "a", *(replace(SETTINGS, scheme=spec) for spec in specs))
    assert [each.label for each in made] == ["lossless", "lb:q2=2", "lfl:q1=2"]
    specs = (f"lfl:q1=2,{adam}", "lfl:q1=2")
    made = groups(tmp_path / "b", *(replace(SETTINGS, scheme=spec) for spec in specs))
    assert [each.label for each in made] == ["lfl:q1=2", f"lfl:q1=2,{adam}"]


def test_tasks_then_the_papers_systems_then_numbers_in_order(tmp_path: Path) -> None:
    schemes = ("own", "ltgm", "lfl:q1=10", "lfl:q1=2", "lossless", "lgm", "lb")
    made = groups(
        tmp_path,
        *(replace(SETTINGS, scheme=scheme) for scheme in schemes),
        replace(SETTINGS, task="cifar10", scheme="lb"),
    )
    assert [(each.settings.task, each.label) for each in made] == [
        ("cifar10", "lb"),
        *(
            ("digits", scheme)
            for scheme in ("lossless", "lb", "lfl:q1=2", "lfl:q1=10", "lgm", "ltgm", "own")
        ),
    ]


def test_the_same_run_twice_is_one_and_another_outcome_an_error(tmp_path: Path) -> None:
    write(tmp_path / "a")
    write(tmp_path / "b")
    (made,) = group(find([tmp_path]))
    assert made.seeds == (0,)
    write(tmp_path / "c", rounds=[record(0, accuracy=0.123)])
    with pytest.raises(
        InputError, match=r"seed 0 of a report must be one run of each seed, got .*/a and"
    ):
        group(find([tmp_path]))


def test_looks_in_between_make_no_other_run(tmp_path: Path) -> None:
    """As rounds leave them that were added later."""
    write(tmp_path / "a", rounds=[record(0, accuracy=None), record(1, accuracy=0.5)])
    write(tmp_path / "b", rounds=[record(0, accuracy=0.4), record(1, accuracy=0.5)])
    (made,) = group(find([tmp_path]))
    assert len(made.runs) == 1


def test_whose_model_was_looked_at_is_said_if_it_differs(tmp_path: Path) -> None:
    made = groups(
        tmp_path, replace(SETTINGS, scheme="lossless"), replace(SETTINGS, evaluate="average")
    )
    assert [each.label for each in made] == [
        "lossless, evaluate server",
        "lfl:q1=2,q2=2, evaluate average",
    ]


def test_a_group_runs_while_one_of_its_runs_does(tmp_path: Path) -> None:
    write(tmp_path / "a", state="running")
    write(tmp_path / "b", replace(SETTINGS, seed=1))
    assert [each.running for each in group(find([tmp_path]))] == [False]  # it was killed
    with Results(tmp_path / "a").locked():
        assert [each.running for each in group(find([tmp_path]))] == [True]
