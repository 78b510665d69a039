"""Progress, on terminals of all widths."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console
from tests.report import synthetic

from lossyfl.commands.progress import Campaign, Display, Live, PlainLines, describe
from lossyfl.errors import Interrupted, Stopped
from lossyfl.report.groups import group
from lossyfl.report.runs import find
from lossyfl.report.runs_tables import settings_table
from lossyfl.results.experiment import Experiment
from lossyfl.results.records import Round, read_rounds
from lossyfl.results.summary import summarize
from lossyfl.simulation.run import run
from lossyfl.simulation.run_loop import RunResult
from lossyfl.simulation.setup import Setup, prepare
from lossyfl.simulation.watcher import Silent

TINY = "tests.simulation.tiny:make_task"


@pytest.fixture(scope="module")
def setup() -> Setup:
    return replace(prepare(Experiment(task=TINY)), rounds=10_000)


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Round:
    out = tmp_path_factory.mktemp("runs") / "out"
    run(Experiment(task=TINY, rounds=1), out)
    return read_rounds(out / "rounds.jsonl")[0]


def shown(display: Display, setup: Setup, record: Round) -> None:
    """Two rounds, the second of which is late in the run."""
    display.started(setup, [])
    display.round_done(record)
    display.round_done(replace(record, round=9_000, metrics={"accuracy": 0.9722}))


@pytest.mark.parametrize("width", [80, 100, 120, 200])
@pytest.mark.parametrize("runs", [0, 1, 15])
def test_no_width_loses_what_matters(width: int, runs: int, setup: Setup, record: Round) -> None:
    """Round, accuracy, savings and time left; `runs` is 0 for `lossyfl run`."""
    console = Console(file=StringIO(), force_terminal=True, width=width)
    display = Campaign(10_000 * max(runs, 1), runs, console) if runs else Live(console)
    shown(display, setup, record)
    line = display.line(width)
    display.ended()
    assert len(line) <= width
    savings = r"down .*\d\.\dx\)?  up .*\d\.\dx\)?"
    assert re.search(rf"round 9001/10000 .*97\.22 %  .*{savings}  .* left$", line)
    assert ("run 1/15" in line) == (runs == 15)


def test_wide_terminals_show_the_rest(setup: Setup, record: Round) -> None:
    display = Live(Console(file=StringIO(), force_terminal=True, width=200))
    shown(display, setup, record)
    assert all(text in display.line(200) for text in ("━", "loss ", "accuracy", " B ("))
    display.ended()


def test_start_up_is_said(tmp_path: Path) -> None:
    for kind in (Live, PlainLines):
        text = StringIO()
        console = Console(file=text, force_terminal=kind is Live, width=100)
        run(
            Experiment(task=TINY, rounds=1),
            tmp_path / kind.__name__,
            workers=2,
            watcher=kind(console),
        )
        assert f"loading the data of {TINY}" in text.getvalue()
        assert "starting 2 workers" in text.getvalue()


def launch(*arguments: str | Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "lossyfl", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("said", ["importing torch", "starting 2 workers", "10 devices"])
def test_ctrl_c_before_the_first_round_stops_at_once(said: str, tmp_path: Path) -> None:
    task = f"{TINY}:pause=30"
    process = launch("run", "--task", task, "--workers", "2", "--out", tmp_path / "out")
    assert process.stderr is not None
    while said not in process.stderr.readline():
        assert process.poll() is None
    time.sleep(0.1)
    os.kill(process.pid, signal.SIGINT)
    _, rest = process.communicate(timeout=100)  # the first round would take five minutes
    assert process.returncode == 130
    assert "lossyfl: stopped" in rest
    assert "Traceback" not in rest
    if said == "10 devices":
        assert "stopped before the first round: there is nothing to keep" in rest
        assert json.loads((tmp_path / "out" / "run.json").read_text())["state"] == "interrupted"


def test_a_run_says_why_it_was_stopped(tmp_path: Path) -> None:
    wrong = {"raising": "ZeroDivisionError: oops", "breaking": "training of device 3 diverged"}
    for name, why in wrong.items():
        chosen = Experiment(task=f"tests.simulation.tiny:{name}", rounds=3)
        with pytest.raises(Stopped):
            run(chosen, tmp_path / name, workers=2 if name == "raising" else 1)
        assert json.loads((tmp_path / name / "run.json").read_text())["why"].startswith(why)
        assert why in str(settings_table(group(find([tmp_path / name]))))


def test_nobody_need_say_why_they_stopped_it(tmp_path: Path) -> None:
    class Impatient(Silent):
        def started(self, setup: Setup, done: list[Round]) -> None:
            del setup, done
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(Interrupted, match="stopped before the first round"):
        run(Experiment(task=TINY, rounds=3), tmp_path / "out", watcher=Impatient())
    assert "why" not in json.loads((tmp_path / "out" / "run.json").read_text())


def test_a_run_is_told_with_what_was_sent_to_catch_up(tmp_path: Path) -> None:
    one = synthetic.record(0)
    own = replace(one, copies=replace(one.down, nbytes=750, raw=12_000, catch_up=500))
    for records, down in (([one], "down 250 B (16.0x"), ([own], "of which catch-up 500 B (16.0x")):
        made = RunResult(
            folder=tmp_path, finished=True, interrupted=False, summary=summarize(records)
        )
        assert down in describe(made)
