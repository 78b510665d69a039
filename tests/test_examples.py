"""Every example runs as its first lines say."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from lossyfl.results.experiment import Experiment
from lossyfl.simulation.setup import load_task, ready

MEASURED = {
    "language.py": r"perplexity ([0-9.]+), accuracy [0-9.]+ %",
    "own_task.py": r"accuracy ([0-9.]+) %",
    "regression.py": r"RMSE ([0-9.]+) °C, far off [0-9.]+ %",
}
GOOD = {"language.py": (2, 3), "own_task.py": (80, 100), "regression.py": (1, 2)}
"""A perplexity of 8 syllables over their letters, percent, and degrees beside a noise of one."""
LINES = {"language.py": 58, "own_task.py": 46, "regression.py": 66}
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
        found = re.search(MEASURED[example.name], done.stdout)
        assert found is not None, done.stdout
        low, high = GOOD[example.name]
        assert low < float(found[1]) < high
    assert example.read_text().count("\n") <= LINES[example.name]


def test_own_task_can_be_compared_over_seeds() -> None:
    """Every device has samples enough for a batch, whatever the seed."""
    task = load_task("examples.own_task:make_task")
    for seed in range(30):
        ready(Experiment(task="examples.own_task:make_task", seed=seed), task)
