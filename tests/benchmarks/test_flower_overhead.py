"""Rounds with lossyfl against plain ones: both take turns, and the first round counts for neither."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import flower, flower_overhead
from benchmarks.flower import Evaluation
from benchmarks.flower_app import settings
from benchmarks.flower_overhead import SCHEME, Case, measure
from lossyfl.simulation.setup import prepare

CASE = Case(engine="simulation", hidden=7, nodes=2, rounds=3)
ENDS = {flower.PLAIN: (0.0, 9.0, 11.0, 13.0), SCHEME: (0.0, 7.0, 10.0, 13.0)}
"""Rounds of 2 s and of 3 s, but for the first."""


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The schemes that an engine was asked to play, in order."""
    asked: list[str] = []

    def play(said: flower.Settings, **_: int) -> list[Evaluation]:
        asked.append(str(said["scheme"]))
        ends = ENDS[asked[-1]]
        return [Evaluation(began=end - 1, ended=end, replies=2) for end in ends]

    monkeypatch.setattr(flower, "play", play)
    return asked


def test_both_take_turns_and_first_rounds_do_not_count(engine: list[str]) -> None:
    found = measure(CASE, repeats=2)
    assert engine == [flower.PLAIN, SCHEME] * 2
    assert (found.plain, found.lossy) == ((2.0,) * 4, (3.0,) * 4)
    assert found.ratio == 1.5


def test_parameters_are_those_of_the_network() -> None:
    asked = flower_overhead._settings(CASE, SCHEME) | {"devices": 2, "rounds": 1}
    assert len(prepare(settings(asked)).theta) == CASE.parameters


def test_what_was_measured_is_shown_and_written(engine: list[str], tmp_path: Path) -> None:
    out = io.StringIO()
    flower_overhead.run(tmp_path / "a.json", quick=True, console=Console(file=out, width=120))
    assert "simulation, 17,610 parameters: 1.50x of plain Flower" in out.getvalue()
    (case,) = json.loads((tmp_path / "a.json").read_text())["cases"]
    assert (case["plain"], case["lossy"]) == ([2.0, 2.0], [3.0, 3.0])
    assert engine == [flower.PLAIN, SCHEME]
