"""Which Pythons and versions the wheel is tried on: what is missing must not look like what passed."""

import sys
import zipfile
from pathlib import Path

import pytest
from tests.wheel import matrix
from tests.wheel.environment import interpreters, names, requirements


@pytest.fixture
def pyenv(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A shim on the path that does not start, and no other Python."""
    shims = tmp_path / "shims"
    shims.mkdir()
    (shims / "python3.12").write_text("#!/bin/sh\nexit 127\n")
    (shims / "python3.12").chmod(0o755)
    monkeypatch.setenv("PATH", str(shims))
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path))
    monkeypatch.setattr("tests.wheel.environment.PYTHONS", ("python3.12",))
    return tmp_path


def test_one_behind_a_shim_that_does_not_start_is_found(pyenv: Path) -> None:
    own = pyenv / "versions/3.12.1/bin/python3.12"
    own.parent.mkdir(parents=True)
    own.symlink_to(sys.executable)
    assert list(interpreters([])) == [("python3.12", str(own))]


@pytest.mark.usefixtures("pyenv")
def test_one_that_somebody_asks_for_has_to_be_here() -> None:
    with pytest.raises(SystemExit, match=r"python3\.12: not here"):
        list(interpreters(["python3.12"]))


@pytest.mark.usefixtures("pyenv")
def test_nothing_tried_is_said_and_no_success(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["matrix.py", "--wheel", str(tmp_path / "any.whl")])
    with pytest.raises(SystemExit, match="1"):
        matrix.main()
    said = "python3.12: not here, 12 combinations skipped\n0 passed, 0 failed, 12 skipped\n"
    assert capsys.readouterr().out == said


METADATA = """Metadata-Version: 2.4
Name: lossyfl
Requires-Dist: numpy>=1.26
Requires-Dist: typer<0.29,>=0.15.4
Requires-Dist: torch>=2.4; extra == "sim"
Requires-Dist: tensorboard>=2.18; extra == "tensorboard"
Requires-Dist: flwr[simulation]<1.42,>=1.41; extra == "flower"
"""


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "lossyfl-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("lossyfl-1.dist-info/METADATA", METADATA)
    return path


def test_the_oldest_versions_are_those_of_what_the_wheel_asks_for(wheel: Path) -> None:
    """Handed to uv one by one: of what a wheel asks for, uv takes the newest."""
    core = ["numpy>=1.26", "typer<0.29,>=0.15.4"]
    assert requirements(wheel, "") == core
    assert requirements(wheel, "sim,tensorboard") == [*core, "torch>=2.4", "tensorboard>=2.18"]
    assert requirements(wheel, "flower") == [*core, "flwr[simulation]<1.42,>=1.41"]


def test_names_are_without_versions_and_extras() -> None:
    asked = ["numpy", "typer<0.29", "rich>=13", "a!=1", "flwr[simulation]<2,>=1"]
    assert list(names(asked)) == ["numpy", "typer", "rich", "a", "flwr"]
