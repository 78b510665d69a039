"""How runs go, as lines of a file or one line of a notebook."""

import io
import sys
from dataclasses import replace
from types import ModuleType, SimpleNamespace

import pytest
from tests.report.synthetic import record

from lossyfl.api import lines
from lossyfl.api.lines import ProgressLine, in_notebook
from lossyfl.results.experiment import Experiment
from lossyfl.simulation.setup import Setup, prepare


@pytest.fixture(scope="module")
def setup() -> Setup:
    made = prepare(Experiment(task="tests.simulation.tiny:make_task"))
    return replace(made, rounds=3)


def played(setup: Setup, stream: io.StringIO) -> str:
    line = ProgressLine(2, stream)
    line.skipped()
    line.preparing("starting")
    line.started(setup, [])
    for number in range(3):
        line.round_done(record(number))
    line.ended()
    line.close()
    return stream.getvalue()


def test_a_file_has_whole_lines(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "PLAIN_EVERY", 0.0)
    said = played(setup, io.StringIO()).splitlines()
    assert said[0].startswith("run 2/2, seed 0: tiny, lfl:q1=2,q2=2: 110 parameters")
    assert [each.split("  ")[:2] for each in said[1:]] == [
        [f"round {number}/3", "accuracy 50.00 %"] for number in (1, 2, 3)
    ]


def test_a_notebook_has_one_line_that_changes(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "CHANGED_EVERY", 0.0)
    monkeypatch.setattr(lines, "in_notebook", lambda: True)
    said = played(setup, io.StringIO())
    assert "\rstarting" in said
    assert "\rround 1/3" in said
    assert said.count("\n") == 2  # what is run, and how it ended
    assert said.endswith("\n")


def test_lines_wait_for_each_other(setup: Setup) -> None:
    said = played(setup, io.StringIO())
    assert "round 3/3" in said
    assert "round 2/3" not in said


def test_a_notebook_is_known_without_an_import(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not in_notebook()
    shell = ModuleType("IPython")
    monkeypatch.setitem(sys.modules, "IPython", shell)
    assert not in_notebook()
    for own, expected in (({"kernel": 1}, True), ({}, False)):
        shell.get_ipython = lambda own=own: SimpleNamespace(**own)  # type: ignore[attr-defined]
        assert in_notebook() is expected
