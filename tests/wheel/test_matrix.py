"""Which Pythons the wheel is tried on: a missing one must not look like one that passed."""

import sys
from pathlib import Path

import pytest
from tests.wheel import matrix


@pytest.fixture
def pyenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shim on the path that does not start, and no other Python."""
    shims = tmp_path / "shims"
    shims.mkdir()
    (shims / "python3.12").write_text("#!/bin/sh\nexit 127\n")
    (shims / "python3.12").chmod(0o755)
    monkeypatch.setenv("PATH", str(shims))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setattr(matrix, "PYTHONS", ("python3.12",))
    return tmp_path


def test_one_behind_a_shim_that_does_not_start_is_found(pyenv: Path) -> None:
    own = pyenv / "versions/3.12.1/bin/python3.12"
    own.parent.mkdir(parents=True)
    own.symlink_to(sys.executable)
    assert list(matrix.pythons([])) == [str(own)]


@pytest.mark.usefixtures("pyenv")
def test_one_that_is_not_here_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(matrix.pythons([])) == []
    assert capsys.readouterr().out == "python3.12: not here\n"


@pytest.mark.usefixtures("pyenv")
def test_one_that_somebody_asks_for_has_to_be_here() -> None:
    with pytest.raises(SystemExit, match=r"python3\.12: not here"):
        list(matrix.pythons(["python3.12"]))


@pytest.mark.usefixtures("pyenv")
def test_nothing_tried_is_no_success(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "argv", ["matrix.py", "--wheel", str(tmp_path / "any.whl")])
    with pytest.raises(SystemExit, match="1"):
        matrix.main()
