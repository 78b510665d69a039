"""The command finds the benchmarks of a checkout, and says where they are when there is none."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests import bare

import lossyfl

ROOT = Path(__file__).parents[2]
NOT_HERE = (
    "lossyfl: benchmark of lossyfl bench must be run in a checkout: benchmarks are part of the "
    "repository, not of the package, got server"
)


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The package alone, as a wheel leaves it."""
    kept = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(lossyfl.__file__).parent, tmp_path / "a/b/lossyfl", ignore=kept)
    return tmp_path / "a/b"


def bench(installed: Path, here: Path) -> "subprocess.CompletedProcess[str]":
    hidden = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    arguments = ("bench", "server", "--quick", "--out", "speeds.json")
    return subprocess.run(
        [*bare.COMMAND, "-m", "lossyfl", *arguments],
        cwd=here,
        env=hidden | {"PYTHONPATH": bare.search_path(installed)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_without_a_checkout_it_says_where_they_are(installed: Path, tmp_path: Path) -> None:
    done = bench(installed, tmp_path)
    assert (done.returncode, done.stdout, done.stderr.strip()) == (2, "", NOT_HERE)


def test_those_of_the_current_folder_run(installed: Path, tmp_path: Path) -> None:
    own = tmp_path / "benchmarks"
    own.mkdir()
    program = "def run(path, **_): path.write_text(__file__)"
    (own / "server.py").write_text(program)
    done = bench(installed, tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "speeds.json").read_text() == str(own / "server.py")
