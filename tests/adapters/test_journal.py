"""A training without a framework leaves a results directory, also where it stops early."""

import json
import logging
from pathlib import Path

import pytest
from tests.adapters.federation import SPEC, add_one, new_training, play_round

from lossyfl.adapters.framework import Framework
from lossyfl.adapters.journal import Journal
from lossyfl.errors import InputError
from lossyfl.results.records import read_rounds

MINE = Framework(name="mine", messages="packets", command="mine run", settings="MyServer")


def play(journal: Journal, folder: Path, rounds: int = 2) -> None:
    training = new_training()
    journal.begin(SPEC, rounds, 0, done=0)
    for _ in range(rounds):
        journal.flush(training.server)
        journal.open()
        journal.carried_down(1000)
        journal.carried_up(200)
        play_round(training, {0: add_one, 1: add_one}, folder / "state")
        journal.trained({"train-loss": 0.5}, 0.1)
        journal.evaluated({"accuracy": 0.25})
        journal.evaluated({"accuracy": 0.75}, server=True)
    journal.end(training.server)


def test_rounds_are_written_down(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "lossyfl")
    journal = Journal(tmp_path / "results", MINE)
    play(journal, tmp_path)
    rounds = read_rounds(tmp_path / "results/rounds.jsonl")
    assert rounds == journal.rounds
    assert [(r.round, r.replies, r.accuracy, r.train_loss) for r in rounds] == [
        (0, 2, 0.75, 0.5),
        (1, 2, 0.75, 0.5),
    ]
    assert (rounds[0].down.carrier, rounds[0].up.carrier) == (1000, 200)
    about = json.loads((tmp_path / "results/run.json").read_text())
    assert about["command"] == "mine run"
    assert "(packets: 2 kB down, 400 B up)" in caplog.text


def test_a_folder_of_another_run_is_refused(tmp_path: Path) -> None:
    play(Journal(tmp_path / "results", MINE), tmp_path)
    with pytest.raises(InputError, match="results of MyServer must be a new folder"):
        Journal(tmp_path / "results", MINE).begin(SPEC, 2, 0, done=0)


def test_why_there_is_no_end(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "results", MINE)
    journal.begin(SPEC, 2, 0, done=0)
    journal.stop(None, ValueError("of a\nkind"))
    about = json.loads((tmp_path / "results/run.json").read_text())
    assert about["state"] == "stopped"
    assert r"ValueError: of a\nkind" in json.dumps(about).replace("\\\\", "\\")


def test_without_a_folder_it_is_kept_in_memory(tmp_path: Path) -> None:
    journal = Journal(None)
    play(journal, tmp_path)
    assert len(journal.rounds) == 2
