"""The recipes of CONTRIBUTING, followed from outside: files in a folder of one's own."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text()
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def recipe(name: str) -> str:
    """The file that a recipe writes: the first block below its heading."""
    section = re.search(rf"^## Add {name}$(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert section is not None, name
    return BLOCK.findall(section[1])[0]


def run(folder: Path, *arguments: str) -> dict[str, Any]:
    """The summary of a run of the command line in that folder."""
    command = [sys.executable, "-m", "lossyfl", "run", *arguments, "--out", "out"]
    subprocess.run(command, cwd=folder, env=os.environ, check=True, capture_output=True)
    return json.loads((folder / "out" / "run.json").read_text())["summary"]


@pytest.mark.parametrize("name", ["a quantizer", "a link with a scheme", "a task"])
def test_what_a_recipe_writes_passes_the_linter(name: str, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(recipe(name))
    ruff = [sys.executable, "-m", "ruff"]
    config = ["--config", str(ROOT / "pyproject.toml")]
    for command in (["check"], ["format", "--check"]):
        subprocess.run([*ruff, *command, *config, str(tmp_path / "own.py")], check=True)


def test_a_task_and_a_quantizer_of_ones_own_train(tmp_path: Path) -> None:
    (tmp_path / "clouds.py").write_text(recipe("a task"))
    (tmp_path / "signs.py").write_text(recipe("a quantizer"))
    task = ("--task", "clouds:make_task:spread=0.2")
    exact = run(tmp_path, *task, "--scheme", "lossless", "--workers", "1")
    (tmp_path / "out").rename(tmp_path / "exact")
    coarse = run(
        tmp_path, *task, "--scheme", "lean:down=signs:MySign(scale=tensor),up=signs:MySign"
    )
    for summary in (exact, coarse):
        assert isinstance(summary["metrics"]["accuracy"], float)
        assert summary["metrics"]["accuracy"] > 0.9
    assert coarse["up"] != exact["up"]


def test_a_link_of_ones_own_trains_like_lfl_and_goes_on_after_a_loss(tmp_path: Path) -> None:
    """Late replies go back into the residual by `undo`; a checkpoint saves its state."""
    (tmp_path / "clouds.py").write_text(recipe("a task"))
    (tmp_path / "fading.py").write_text(recipe("a link with a scheme"))
    task = ("--task", "clouds:make_task:spread=0.2", "--slow", "0.3", "--workers", "1")
    summary = run(tmp_path, *task, "--scheme", "fading:fading:levels=5,keep=0.5")
    assert isinstance(summary["metrics"]["accuracy"], float)
    assert summary["metrics"]["accuracy"] > 0.9


def test_what_nobody_has_written_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(tmp_path, "--task", "clouds:make_task", "--workers", "1")
    assert b"clouds:make_task" in caught.value.stderr
