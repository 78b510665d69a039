"""The benchmark of symbols chosen by class prints a line for a broadcast and a reply at every rate."""

import sys

import pytest

from scripts import cells_by_class


def test_prints_what_is_saved(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cells_by_class, "RATES", (0.5,))
    monkeypatch.setattr(cells_by_class, "REPEATS", 1)
    monkeypatch.setattr(sys, "argv", ["cells_by_class", "--rounds", "1"])
    cells_by_class.main()
    broadcast, reply = capsys.readouterr().out.splitlines()
    assert broadcast.startswith("broadcast   0.5 bit")
    assert reply.startswith("reply       0.5 bit")
    assert "x the bytes" in reply
