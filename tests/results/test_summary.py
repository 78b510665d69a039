"""The results of a run in a few numbers."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.report.synthetic import record

from lossyfl.results.experiment import Experiment
from lossyfl.results.ledger_file import read_lines
from lossyfl.results.records import read_rounds
from lossyfl.results.summary import summarize
from lossyfl.simulation.run import run


def test_summary_adds_up(tmp_path: Path) -> None:
    run(Experiment(task="tests.simulation.tiny:make_task", rounds=5), tmp_path / "out")
    rounds = read_rounds(tmp_path / "out" / "rounds.jsonl")
    summary = summarize(rounds)
    assert summary.down == sum(r.down.nbytes for r in rounds)
    assert summary.saving_down == sum(r.down.raw for r in rounds) / summary.down
    assert summary.accuracy == rounds[-1].accuracy
    # by the paper's count: 33 bits per entry over R_Q, the initial model exact
    d, q_bits = 110, 64 + 110 * (1 + np.log2(3))
    assert summary.paper_down == pytest.approx(5 * 33 * d / (33 * d + 4 * q_bits))
    assert summary.paper_up == pytest.approx(33 * d / q_bits)


def test_accuracy_is_that_of_the_last_evaluation() -> None:
    rounds = [record(0, accuracy=0.2), record(1, accuracy=0.4), record(2, accuracy=None)]
    assert summarize(rounds).accuracy == 0.4


def test_a_run_without_rounds_saved_nothing() -> None:
    summary = summarize([])
    assert (summary.rounds, summary.accuracy, summary.down) == (0, None, 0)
    assert summary.saving_down == summary.paper_up == 1.0


@pytest.mark.parametrize("listen", ["all", "participants"])
@pytest.mark.parametrize("drop_out", [0.0, 0.3])
def test_lossless_links_save_nothing_whoever_listens(
    listen: str, drop_out: float, tmp_path: Path
) -> None:
    """Like with like: exact floats over the same links cost as much as exact floats, but for the header."""
    asked = Experiment(
        task="tests.simulation.tiny:make_task", scheme="lossless", rounds=6,
        participation=0.3, listen=listen, drop_out=drop_out,
    )  # fmt: skip
    run(asked, tmp_path / "out")
    rounds = read_rounds(tmp_path / "out" / "rounds.jsonl")
    summary = summarize(rounds)
    frame = rounds[0].down.nbytes
    assert 4 * 110 < frame < 4 * 110 + 50
    assert summary.saving_down == pytest.approx(4 * 110 / frame, abs=1e-12 if not drop_out else 0.2)
    if listen == "participants":  # a model each for those who train, however long they were away
        assert summary.down == frame * sum(each.replies for each in rounds)
        assert summary.saving_down == pytest.approx(4 * 110 / frame)


def test_catch_up_is_a_share_of_what_was_sent_down(tmp_path: Path) -> None:
    """Of three participants in ten devices, who had missed more than one update is in the ledger."""
    asked = Experiment(
        task="tests.simulation.tiny:make_task", rounds=12, participation=0.3, listen="participants"
    )
    run(asked, tmp_path / "out")
    summary = summarize(read_rounds(tmp_path / "out" / "rounds.jsonl"))
    lines = list(read_lines(tmp_path / "out" / "ledger.csv"))
    down = [line for line in lines if line.frame.direction == "down"]
    late = [line for line in down if line.frame.kind == "catch-up"]
    assert summary.catch_up == sum(line.count * line.frame.nbytes for line in late) > 0
    assert summary.down == sum(line.count * line.frame.nbytes for line in down)
    assert summary.catch_up < summary.down


def test_copies_count_where_every_device_was_sent_its_own() -> None:
    one = record(0)
    assert summarize([replace(one, copies=one.up)]).down == one.up.nbytes
