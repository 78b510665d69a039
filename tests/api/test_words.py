"""What is said in Python, as settings and objects."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.simulation import tiny

from lossyfl import InputError, Stochastic, scheme
from lossyfl.api.words import NAMES, OneRun, asked, plain, schemes_of, task_of
from lossyfl.results.experiment import Experiment


def test_every_setting_can_be_said() -> None:
    assert set(NAMES) | {"down_budget", "up_budget", "first_budget"} == set(OneRun.__annotations__)


def test_numbers_are_numbers() -> None:
    chosen, _ = asked(None, {"lr": 0.1, "participation": 1, "seed": np.int64(3), "rounds": 2})
    assert chosen == Experiment(lr="0.1", participation=1.0, seed=3, rounds=2)
    assert Experiment(lr=0.1) == Experiment(lr="0.1")
    assert plain(Path("a")) == "a"
    with pytest.raises(InputError, match=r"rounds of a run must be an int >= 1, got 2\.5"):
        asked(None, {"rounds": 2.5})
    with pytest.raises(InputError, match=r"key of a run must be .*did you mean rounds\?"):
        asked(None, {"round": 3})


def test_what_is_said_comes_above_an_experiment() -> None:
    base = Experiment(task="mnist", rounds=5, lr="0.3")
    chosen, _ = asked(base, {"rounds": 7})
    assert chosen == replace(base, rounds=7)


def test_budgets_make_the_scheme_lean() -> None:
    chosen, given = asked(None, {"down_budget": 20_000, "up_budget": "0.5bit"})
    assert chosen.scheme == "lean:down_budget=20000B,up_budget=0.5bit"
    assert given.scheme is None
    chosen, _ = asked(None, {"scheme": "lean:predict=true", "up_budget": np.float32(500)})
    assert chosen.scheme == "lean:predict=true,up_budget=500B"
    with pytest.raises(InputError, match="scheme of a run must be a text, or left out"):
        asked(None, {"scheme": scheme("lean"), "up_budget": 3})


def test_tasks_are_names_objects_or_what_makes_them() -> None:
    task = tiny.make_task()
    for said in (task, tiny.make_task):
        chosen, given = asked(None, {"task": said})
        assert chosen.task.startswith("object:tiny@")
        assert given.task is not None
        assert given.task.name == "tiny"
    assert asked(None, {"task": "mnist"})[1].task is None
    with pytest.raises(InputError, match=r"task of a run must be a name, a lossyfl\.Task"):
        task_of(3)


def test_schemes_keep_their_words() -> None:
    made = scheme("lean", down=Stochastic(levels=5))
    by_hand = replace(made, spec="", name="mine")
    named = schemes_of(["lossless", made, by_hand])
    first, second, third = named
    assert (first, second) == ("lossless", "lean:down=stochastic(levels=5)")
    assert third.startswith("object:mine@")
    assert list(named.values()) == [None, None, by_hand]
    with pytest.raises(InputError, match="schemes of a comparison must be a list"):
        schemes_of("lossless")
    with pytest.raises(InputError, match="scheme of a run must be a text as"):
        schemes_of([3])  # type: ignore[list-item]
