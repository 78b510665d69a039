"""Optional dependencies."""

import math
import subprocess
import sys

import pytest

from lossyfl import MissingExtra
from lossyfl.extras import check_installed, require

SIM = "lossyfl: torch is not installed: pip install 'lossyfl[sim]'"


def test_a_module_that_is_there() -> None:
    assert require("math", extra="sim") is math


def test_a_missing_module_names_the_command() -> None:
    with pytest.raises(
        MissingExtra, match=r"^nosuch is not installed: pip install 'lossyfl\[sim\]'$"
    ):
        require("nosuch.part", extra="sim")


def test_installed_or_not_without_an_import() -> None:
    check_installed("math", extra="sim")
    with pytest.raises(
        MissingExtra, match=r"^nosuch is not installed: pip install 'lossyfl\[sim\]'$"
    ):
        check_installed("nosuch", extra="sim")


def without_torch(program: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    """A program in a process that has no torch."""
    hidden = f"import sys; sys.modules['torch'] = None; {program}"
    command = [sys.executable, "-c", hidden, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "command",
    [("run",), ("demo",), ("compare",), ("tune",), ("bench", "simulation"), ("bench", "flower")],
)
def test_commands_that_train_name_the_extra(command: tuple[str, ...]) -> None:
    done = without_torch("from lossyfl.cli import main; main()", *command)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.strip() == SIM


@pytest.mark.parametrize(
    "program",
    [
        "from lossyfl.tasks.models import linear",
        "from lossyfl.simulation.run import run",
        "import lossyfl.tasks; lossyfl.tasks.task('digits')",
    ],
)
def test_so_do_the_modules_that_train(program: str) -> None:
    last = without_torch(program).stderr.strip().splitlines()[-1]
    assert last == f"lossyfl.errors.MissingExtra: {SIM.removeprefix('lossyfl: ')}"


def test_what_trains_nothing_needs_none() -> None:
    program = "import lossyfl.tasks.partitions as p, lossyfl.tasks.steps; print(p.names())"
    assert "dirichlet" in without_torch(program).stdout
