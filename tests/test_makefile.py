"""What `make` installs for whom, and what `make test` says and ends with."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("target", "extras"), [("demo", "sim,report"), ("test", "dev"), ("install", "dev")]
)
def test_a_target_installs_what_it_needs(target: str, extras: str, tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    command = ["make", "--dry-run", target]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert re.findall(r'--editable "\.\[(.*?)\]"', said) == [extras]


TOOLS = {"ruff": 0, "lint-imports": 0, "pyright": 0, "pytest": 0}


def make_test(folder: Path, **codes: int) -> "subprocess.CompletedProcess[str]":
    """`make test` with tools that say their name and end with a code."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, folder)
    for name, code in (
        TOOLS | {name.replace("_", "-"): code for name, code in codes.items()}
    ).items():
        (folder / name).write_text(f"#!/bin/sh\necho {name} was here\nexit {code}\n")
        (folder / name).chmod(0o755)
    (folder / "stamp").touch()
    command = ["make", "test", f"BIN={folder}", f"STAMP={folder}/stamp"]
    own = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        command, cwd=folder, env=own, capture_output=True, text=True, check=False
    )  # not as a part of the `make test` that runs this


def test_tests_have_the_last_word_where_all_is_well(tmp_path: Path) -> None:
    done = make_test(tmp_path)
    assert done.returncode == 0
    assert done.stdout.endswith("pytest was here\n")
    assert "pyright was here" not in done.stdout


@pytest.mark.parametrize("tool", TOOLS)
def test_whatever_fails_fails_it_and_is_heard(tool: str, tmp_path: Path) -> None:
    done = make_test(tmp_path, **{tool: 1})
    assert done.returncode != 0
    assert f"{tool} was here" in done.stdout
    is_late = tool in ("pyright", "pytest")
    assert ("pytest was here" in done.stdout) == is_late
