"""What is refused of replies: the log, the ledger and the inner strategy learn of it."""

from pathlib import Path

import pytest
from flwr.app import Message
from tests.flower.answers import (
    assert_one_is_refused,
    train,
)
from tests.flower.app import NODES, make_app
from tests.flower.grid import LocalGrid
from tests.flower.trainings import final, inner, play

from lossyfl.flower import LossyStrategy, lossy_mod


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda _: b"garbage", "damaged"),
        (lambda frame: frame[:-5], "damaged"),
        (lambda frame: frame[:8] + b"\xff" * 8 + frame[16:], "damaged"),
    ],
)
def test_hostile_replies_are_refused_with_their_reason(
    damage: object, reason: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def change(reply: Message, node: int) -> None:
        if node == 1000 and reply.has_content():
            head = reply.content["lossyfl"]
            head["run"] = damage(head["run"])
            head["sizes"] = [len(head["run"])]

    grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path, change=change)
    lossy = LossyStrategy(inner(), "lfl:q1=8,q2=8")
    assert final(play(lossy, grid, 10)) > 0.7
    assert lossy.rounds[-1].replies == NODES - 1
    assert f"reply of device 0 is refused as {reason}" in caplog.text


@pytest.mark.parametrize("name", ["FedAvg", "FedMedian"])
def test_what_no_check_has_foreseen(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Errors that are not ours, of each step, are that answer's; the log says where they come from."""
    package = "lossyfl.adapters.training"

    def failing(number: int, *_: object) -> None:
        if number == 0:
            raise ZeroDivisionError("a \x1b[31mcheck")

    monkeypatch.setattr(f"{package}.check_width", failing)
    assert_one_is_refused(train(tmp_path / "take", lambda *_: None, name), unreadable=2)
    assert "in failing" in caplog.text
    assert r"it caused ZeroDivisionError: a \x1b[31mcheck" in caplog.text
    assert "\x1b" not in caplog.text
    monkeypatch.setattr(f"{package}.check_number", failing)
    monkeypatch.setattr(f"{package}.check_width", lambda *_: None)
    assert_one_is_refused(train(tmp_path / "unwrap", lambda *_: None, name), unreadable=2)
