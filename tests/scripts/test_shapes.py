"""What shapes save, measured: the same symbols with and without them."""

import sys

import pytest

from scripts import shapes

SCHEME = "lean:down_budget=0.5bit,up_budget=0.5bit"


def printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *more: str
) -> list[list[str]]:
    given = ["digits", "--rounds", "3", "--devices", "4", "--partition", "iid"]
    monkeypatch.setattr(sys, "argv", ["shapes", *given, *more, "--schemes", SCHEME])
    shapes.main()
    title, *lines = capsys.readouterr().out.splitlines()
    assert title == f"digits, {SCHEME}, 3 rounds of 4 devices"
    return [line.split() for line in lines]


def test_the_same_symbols_take_less_with_shapes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for direction, frames, *words in printed(monkeypatch, capsys, "--same"):
        assert int(frames) == {"down": 2, "up": 12}[direction]
        plain, shaped = (int(word.replace(",", "")) for word in words if "," in word)
        assert shaped < plain
        errors = [word for word in words if "." in word][-2:]
        assert errors[0] == errors[1]


def test_a_budget_buys_less_error_with_shapes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in printed(monkeypatch, capsys):
        plain, shaped = (float(word) for word in words if word.startswith("0."))
        assert shaped < plain
