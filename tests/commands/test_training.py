"""What commands that train do before the first round."""

from pathlib import Path

import pytest

from lossyfl import InputError
from lossyfl.commands import training
from lossyfl.commands.execution import Execution
from lossyfl.results.experiment import Experiment
from lossyfl.simulation import warm

TINY = "tests.simulation.tiny:make_task"


def test_settings_become_an_experiment() -> None:
    made = training.checked({"task": TINY, "rounds": 3, "scheme": "lb:q2=3"}, None)
    assert made == Experiment(task=TINY, rounds=3, scheme="lb:q2=3")


@pytest.mark.parametrize(
    ("settings", "schemes", "message"),
    [
        ({"rounds": 0}, (), "rounds of a run must be an int >= 1"),
        ({"scheme": "lffl"}, (), "did you mean lfl?"),
        ({}, ("lossless", "lffl"), "did you mean lfl?"),
        ({"task": "mnist"}, (), "nowhere"),
    ],
)
def test_wrong_words_and_missing_data_are_refused(
    settings: dict[str, object], schemes: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=message):
        training.checked({"task": TINY} | settings, tmp_path / "nowhere", schemes)


def test_one_worker_needs_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr(warm, "warm_up", lambda: started.append("processes"))
    assert training.start_workers(Execution(workers=1)) == 1
    assert not started
    assert training.start_workers(Execution(workers=3)) == 3
    assert started == ["processes"]


def test_the_experiment_of_several_schemes_has_every_setting_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    how = Execution(workers=1)
    chosen, workers = training.settle({"task": TINY}, how, ["lossless", "lb"], quiet=False)
    assert workers == 1
    assert (chosen.rounds, chosen.devices, chosen.lr) == (6, 10, "0.5")  # the task's
    assert "loading the data of" in capsys.readouterr().err
    training.settle({"task": TINY}, how, ["lossless", "lb"], quiet=True)
    assert capsys.readouterr().err == ""
