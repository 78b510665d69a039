"""How a run is done: settings beside those of the experiment."""

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from lossyfl import InputError
from lossyfl.commands.execution import OF_MANY_RUNS, SETTINGS, Execution, rounds_of
from lossyfl.results.experiment import Experiment


def test_no_name_means_two_things() -> None:
    """A file and a command line know both kinds by their names alone."""
    of_run = {field.name for field in fields(Execution)}
    of_experiment = {field.name for field in fields(Experiment)}
    assert not of_run & of_experiment
    assert of_run | of_experiment < set(SETTINGS)
    assert set(OF_MANY_RUNS) <= set(SETTINGS)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"workers": 0}, "workers of a run must be an int >= 1"),
        ({"checkpoint_every": -1.0}, "checkpoint_every of a run must be seconds, >= 0"),
        ({"save_updates": "soon"}, "save_updates of a run must be numbers of rounds"),
    ],
)
def test_wrong_values_are_refused_when_it_is_made(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Execution(**wrong)


@pytest.mark.parametrize(
    ("said", "rounds"),
    [(None, set[int]()), ("3", {3}), ("0, 50,99", {0, 50, 99}), ([0, 7], {0, 7})],
)
def test_rounds_of_a_text_or_of_a_files_list(said: object, rounds: set[int]) -> None:
    assert rounds_of(said) == rounds


@pytest.mark.parametrize("said", ["", "1,-2", "1;2", "1.5", "1,,2", "\u0663"])
def test_other_words_are_no_rounds(said: str) -> None:
    with pytest.raises(InputError, match="numbers of rounds, as 0,50,99"):
        rounds_of(said)


def test_updates_are_kept_of_no_round_by_default() -> None:
    assert Execution(data_dir=Path("there")).saved == frozenset()
