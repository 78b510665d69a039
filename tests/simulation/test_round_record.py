"""What is written down of a round."""

from dataclasses import replace

import pytest
from tests.report.synthetic import SECONDS

from lossyfl.protocol.entries import Entry
from lossyfl.protocol.ledger import Ledger
from lossyfl.protocol.measures import Measured
from lossyfl.simulation.round_record import OpenRound, round_record
from lossyfl.simulation.work import DeviceResult
from lossyfl.tasks.training import Score

OPENED = OpenRound(round=4, distance=0.5, model_peak=3.0, broadcast=None, away=1)
RESULT = DeviceResult(
    device=0, late=False, frame=b"123", loss=2.0, measured=Measured(norm=1, peak=2, error=0.5),
    memory=3.0, training=0.1, coding=0.2,
)  # fmt: skip


def test_means_over_devices() -> None:
    """Losses are weighted by samples; norms and memory are roots of mean squares over devices."""
    late = replace(
        RESULT, device=1, late=True, frame=b"12345", loss=5.0, memory=4.0,
        measured=Measured(norm=3, peak=4, error=0.7),
    )  # fmt: skip
    score = Score(samples=50, loss=25.0, scores=(40.0,))
    made = round_record(OPENED, [RESULT, late], [200, 100], Ledger(), score, SECONDS)
    assert (made.round, made.away, made.distance, made.model_peak) == (4, 1, 0.5, 3.0)
    assert (made.accuracy, made.test_loss) == (0.8, 0.5)
    assert made.train_loss == pytest.approx((200 * 2 + 100 * 5) / 300)
    assert (made.replies, made.late, made.late_bytes) == (1, 1, 5)
    assert made.memory == pytest.approx(((9 + 16) / 2) ** 0.5)
    assert made.reply is not None
    assert made.reply.norm == pytest.approx(((1 + 9) / 2) ** 0.5)
    assert made.down.nbytes == made.up.nbytes == 0
    assert made.seconds is SECONDS


def test_where_only_participants_listen_each_has_a_copy() -> None:
    """Two devices hear one update: 30 bytes once, or 60 against a model of floats for each."""
    update = Entry(
        round=4, direction="down", device=0, kind="update", nbytes=30, entries=100,
        paper_bits=8.0, entropy_bits=8.0, frame=7,
    )  # fmt: skip
    ledger = Ledger([update, replace(update, device=1)])
    all_hear = round_record(OPENED, [], [], ledger, None, SECONDS)
    assert (all_hear.handed.nbytes, all_hear.handed.raw) == (30, 400)
    opened = replace(OPENED, to_each=True)
    own = round_record(opened, [], [], ledger, None, SECONDS)
    assert (own.handed.nbytes, own.handed.raw) == (60, 800)
    assert own.down == all_hear.down


def test_a_round_without_anyone_and_without_an_evaluation() -> None:
    made = round_record(OPENED, [], [], Ledger(), None, SECONDS)
    assert made.accuracy is made.test_loss is made.train_loss is made.reply is made.memory is None
    assert (made.replies, made.late, made.late_bytes) == (0, 0, 0)
