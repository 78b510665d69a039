"""How a run stands, as text."""

from dataclasses import replace

import pytest
from tests.report.synthetic import record

from lossyfl.api.tally import BAR, RunTally, saving, time_left
from lossyfl.results.experiment import Experiment
from lossyfl.results.records import Round
from lossyfl.simulation.setup import Setup, prepare

TINY = "tests.simulation.tiny:make_task"


@pytest.fixture(scope="module")
def setup() -> Setup:
    return replace(prepare(Experiment(task=TINY, evaluate_every=2)), rounds=10)


def tally(setup: Setup, *done: Round) -> RunTally:
    made = RunTally()
    made.start(setup, done)
    return made


def test_bytes_of_all_rounds_and_the_last_accuracy(setup: Setup) -> None:
    rounds = [
        record(0),
        replace(record(1), metrics={"accuracy": 0.25}),
        replace(record(2), metrics={}),
    ]
    made = tally(setup, *rounds[:1])
    for each in rounds[1:]:
        made.add(each)
    assert (made.before, made.rounds, made.total) == (1, 3, 10)
    assert made.down == sum(each.down.nbytes for each in rounds)
    assert made.raw_up == sum(each.up.raw for each in rounds)
    assert made.metrics == {"accuracy": 0.25}


def test_catch_up_is_told_where_there_is_room(setup: Setup) -> None:
    """Copies of 750 bytes, 500 of them to catch up, against three models of floats."""
    one = record(0)
    each = replace(one, copies=replace(one.down, nbytes=750, raw=12_000, catch_up=500))
    made = tally(setup, each)
    assert "down 750 B, of which catch-up 500 B (16.0x)  up " in made.line(None, "")
    assert "down 750 B (16.0x)  up " in made.line(90, "")
    assert "catch-up" not in tally(setup, one).line(None, "")


def test_a_bar_is_as_full_as_the_run_is_done(setup: Setup) -> None:
    line = tally(setup, *map(record, range(5))).line(1000, "")
    assert line.count("━") == line.count("·") == BAR // 2
    assert "━" not in tally(setup, record(0)).line(None, "")  # a file has no bar


def test_narrow_terminals_keep_round_accuracy_and_the_time_left(setup: Setup) -> None:
    made = tally(setup, replace(record(0), metrics={"accuracy": 0.5}))
    for width in (60, 1):
        line = made.line(width, "1:15 min left", "run 2/3 ")
        assert line.startswith("run 2/3 round 1/10  ")
        assert "50.00 %" in line
        assert line.endswith("1:15 min left")
    assert len(made.line(60, "1:15 min left")) <= 60


def test_what_is_left_counts_evaluations(setup: Setup) -> None:
    """Every second round is evaluated, and the last one."""
    left = tally(setup, *map(record, range(4))).left
    assert left.plain + left.evaluated == 6
    assert left.evaluated == 3


def test_before_there_are_bytes_or_times_nothing_is_said_of_them() -> None:
    assert saving(400, 0) == "-"
    assert saving(400, 100) == "4.0x"
    assert time_left(None) == time_left(0) == ""
