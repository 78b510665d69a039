"""`lossyfl reproduce`, on a task that trains in microseconds."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.commands.test_run import TINY, bad, good

from lossyfl.experiments import figures
from lossyfl.results.experiment import Experiment


@pytest.fixture
def tiny_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fig. 1a in small."""
    small = replace(
        figures.MNIST,
        experiment=Experiment(task=TINY, rounds=2, batch=4),
        schemes=("lossless", "lfl:q1=2,q2=2"),
    )
    monkeypatch.setattr(figures, "FIGURES", (small,))


@pytest.mark.usefixtures("tiny_figure")
def test_all_schemes_of_a_figure_and_the_figure(tmp_path: Path) -> None:
    out, how = tmp_path / "out", ("--workers", 1, "-q")
    said = good("reproduce", "fig1a", "--seeds", 2, "--out", out, *how)
    assert "lossless" in said
    assert (out / "fig1a.png").stat().st_size > 10_000
    assert (out / "fig1a.svg").is_file()
    assert len([*out.rglob("rounds.jsonl")]) == 4
    written = {path: path.stat().st_mtime_ns for path in out.rglob("rounds.jsonl")}
    good("reproduce", "fig1a", "--seeds", 2, "--out", out, *how)
    assert written == {path: path.stat().st_mtime_ns for path in out.rglob("rounds.jsonl")}


@pytest.mark.usefixtures("tiny_figure")
def test_some_schemes_in_a_folder_that_says_what_is_unusual(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    good("reproduce", "fig1a", "--schemes", "lfl", "--batch", 3, "--workers", 1, "-q")
    folder = Path("runs/fig1a-batch3")
    assert (folder / "fig1a.svg").is_file()
    assert len([*folder.rglob("rounds.jsonl")]) == 1
    assert "lossless" in bad("reproduce", "fig1a", "--schemes", "lb", "--workers", 1)


def test_unknown_figures_and_readings() -> None:
    assert "one of fig1a, fig1b" in bad("reproduce", "fig2")
    assert "one of carried, server-adam" in bad("reproduce", "fig1a", "--reading", "kept")
    assert "did you mean carried?" in bad("reproduce", "fig1b", "--reading", "caried")
