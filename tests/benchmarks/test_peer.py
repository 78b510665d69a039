"""Flower's engine beside our simulator: a ratio of medians, or the reason why there is none."""

import io

import pytest
from rich.console import Console

from benchmarks import flower, peer
from benchmarks.peer import against_flower, sheet
from benchmarks.rounds import Comparison

OURS = [
    Comparison(name="MNIST CNN", bare=9.0, one=1.0, two=1.0, speedup=1.0),
    Comparison(name="digits CNN", bare=0.5, one=1.6, two=1.2, speedup=1.3),
]


def test_ratios_are_flowers_time_over_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    """A round of ours takes 0.5 * 1.2 = 0.6 s, of theirs 1.8 s in the median: 3 times."""
    times = flower.Times(start_up=20.0, seconds=(1.8, 1.7, 9.0))
    ours = iter([2.0, 1.0, 4.0])
    monkeypatch.setattr(flower, "measure", lambda *_, **__: times)
    monkeypatch.setattr(peer, "start_up", lambda: next(ours))
    found = against_flower(OURS, Console(file=io.StringIO()))
    assert found is not None
    assert found.rounds == pytest.approx(3.0)
    assert found.start_up == 10.0
    assert sheet([found]).rows == [("digits CNN", "3.0", ">= 2", "10.0", ">= 10", "20.0", "2.0")]


def test_without_flower_the_reason_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flower, "measure", lambda *_, **__: flower.Skipped(reason="no ray"))
    out = io.StringIO()
    assert against_flower(OURS, Console(file=out)) is None
    assert out.getvalue() == "Flower is skipped: no ray\n"
