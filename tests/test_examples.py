"""Every example runs as its first lines say."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from lossyfl.results.experiment import Experiment
from lossyfl.simulation.setup import load_task, ready

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_example(example: Path, tmp_path: Path) -> None:
    commands = re.findall(r"^    (lossyfl .*)$", example.read_text(), re.MULTILINE)
    assert commands
    for command in commands:
        arguments = shlex.split(command)[1:]
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "lossyfl",
                *arguments,
                "--workers",
                "1",
                "--out",
                str(tmp_path / "out"),
            ],
            cwd=example.parent,
            capture_output=True,
            text=True,
            check=True,
        )
        accuracy = re.search(r"accuracy ([0-9.]+) %", done.stdout)
        assert accuracy is not None
        assert float(accuracy[1]) > 80
    assert example.read_text().count("\n") <= 46


def test_own_task_can_be_compared_over_seeds() -> None:
    """Every device has samples enough for a batch, whatever the seed."""
    task = load_task("examples.own_task:make_task")
    for seed in range(30):
        ready(Experiment(task="examples.own_task:make_task", seed=seed), task)
