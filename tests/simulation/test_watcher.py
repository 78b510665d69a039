"""Who is told how a run goes."""

from dataclasses import replace
from pathlib import Path

import pytest

from lossyfl.results.experiment import Experiment
from lossyfl.results.records import Round
from lossyfl.simulation.run import resume, run
from lossyfl.simulation.setup import Setup
from lossyfl.simulation.watcher import Silent, Watcher

BASE = Experiment(task="tests.simulation.tiny:make_task", rounds=3)


class Diary:
    """Writes down what it is told."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def preparing(self, what: str) -> None:
        self.said.append(what)

    def started(self, setup: Setup, done: list[Round]) -> None:
        self.said.append(f"{setup.rounds} rounds, {len(done)} done")

    def round_done(self, record: Round) -> None:
        self.said.append(f"round {record.round}")

    def stopping(self) -> None:
        self.said.append("stopping")

    def ended(self) -> None:
        self.said.append("ended")


def test_a_watcher_is_told_everything_in_order(tmp_path: Path) -> None:
    diary: Watcher = (first := Diary())
    run(BASE, tmp_path / "out", watcher=diary)
    loading = f"loading the data of {BASE.task}"
    rounds = ["round 0", "round 1", "round 2"]
    assert first.said == [loading, "3 rounds, 0 done", *rounds, "ended"]
    second = Diary()
    resume(tmp_path / "out", rounds=4, workers=2, watcher=second)
    assert second.said == [loading, "starting 2 workers", "4 rounds, 3 done", "round 3", "ended"]


def test_the_end_is_told_of_a_run_that_failed_too(tmp_path: Path) -> None:
    diary = Diary()
    with pytest.raises(Exception, match="diverged"):
        run(
            replace(BASE, task="tests.simulation.tiny:huge", lr="1", tau=1),
            tmp_path / "out",
            watcher=diary,
        )
    assert diary.said[-1] == "ended"


def test_nobody_need_be_told(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    run(BASE, tmp_path / "out", watcher=Silent())
    assert capfd.readouterr() == ("", "")
