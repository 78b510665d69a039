"""`lossyfl bound`, as a user types it."""

import io
import json
import time
from pathlib import Path

import pytest
from rich.console import Console
from tests.commands.test_run import TINY, bad, call, good

from lossyfl.commands import bound

FEW = ("--quick", "--rounds", 4, "--samples", 200, "--seeds", 1)


def test_all_combinations_of_several_values(tmp_path: Path) -> None:
    several = ("--q1", "exact", "4@0/2@2", "--q2", "exact", "3", "--tau", 1, 2, "--eta", "0.05")
    file = tmp_path / "b.json"
    said = good("bound", *FEW, *several, "--partition", "dirichlet:alpha=5", "--out", file)
    assert "the bound holds at every round in 8 of 8 settings" in said
    assert "digits (200 samples), dirichlet:alpha=5, 10 devices: d = 650, mu >= 0.1" in said
    rows = json.loads(file.read_text())
    asked = [(row["setting"]["tau"], row["setting"]["q1"], row["setting"]["q2"]) for row in rows]
    assert len(asked) == len(set(asked)) == 8
    assert rows[0]["setting"]["rounds"] == 4
    for row in rows:
        assert len(row["eps"]) == 4
        assert len(row["by_round"]) == len(row["distance_bound"]) == len(row["distance"]) == 5


def test_json() -> None:
    how = ("--tau", 1, "--eta", "0.1", "--q1", 2, "--partition", "iid")
    row = json.loads(call("bound", *FEW, *how, "--json").stdout)[0]
    assert row["setting"]["q1"] == "2"


def test_samples_of_ones_own_task() -> None:
    how = ("--devices", 4, "--tau", 1, "--eta", "0.1", "--q1", 2, "--partition", "iid", "--quick")
    said = good("bound", "--task", TINY, *how)
    assert "the bound holds at every round in 1 of 1 settings" in said


def test_a_memory_that_may_grow_is_said() -> None:
    how = ("--tau", 1, "--eta", "0.1", "--q1", "exact", "--partition", "paper", "--q2", 1)
    assert "in 1 of 1 settings omega reaches 1" in good("bound", *FEW, *how)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        (("--eta", "1.5"), "eta of bound must be in (0, 1], which is (0, min(1, 1 / (mu tau))]"),
        (("--tau", 4, "--regulariser", 1, "--eta", "0.3"), "must be in (0, 0.25]"),
        (("--eta", "0.1@0/2@9"), "got 2.0 in round 9"),
        (("--q1", "0"), "levels of Stochastic must be an int in [1, 32767], got 0"),
        (("--partition", "idd"), "did you mean iid?"),
        (("--q2", "1", "x"), "q of scheme must be a number"),
    ],
)
def test_outside_of_the_theorem_nothing_is_loaded(
    asked: tuple[str | int, ...], message: str, tmp_path: Path
) -> None:
    """The data is not there, and it is not what is complained of."""
    assert message in bad("bound", "--task", "mnist", "--data-dir", tmp_path, *asked)


def test_data_is_looked_for_before_the_work(tmp_path: Path) -> None:
    assert "mnist" in bad("bound", "--task", "mnist", "--data-dir", tmp_path)
    assert "did you mean mnist?" in bad("bound", "--task", "minst")


def test_progress_away_from_a_terminal_is_a_line_now_and_then(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = iter([100.0, 120.0, 130.0])
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    console = Console(file=io.StringIO(), width=100)
    tick = bound.Progress(console)
    tick("minima", 2, 6)  # 20 seconds for two
    tick("local steps", 1, 2000)  # at once: the last line is not long ago
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == "minima 2/6, 40.0 s left\n"
