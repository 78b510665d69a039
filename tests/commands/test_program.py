"""All commands in one program, and how it ends."""

import sys

import pytest

from lossyfl import cli
from lossyfl.commands import program
from lossyfl.errors import InputError


def test_errors_are_one_line_and_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail() -> None:
        raise InputError("x", of="y", allowed="z", got=1)

    monkeypatch.setattr(program.signal, "signal", lambda *_: None)
    with pytest.raises(SystemExit) as ended:
        cli.main(fail)
    assert ended.value.code == 2
    assert capsys.readouterr().err == "lossyfl: x of y must be z, got 1\n"


def test_other_words_go_to_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[object] = []
    monkeypatch.setattr(program, "conduct", seen.append)
    monkeypatch.setattr(sys, "argv", ["lossyfl", "run", "--help"])
    cli.main()
    assert seen == [None]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = cli.nothing  # type: ignore[attr-defined]
