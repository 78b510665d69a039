"""Every block of every page runs: Python as it is, the start's commands with fewer rounds.

Other commands take minutes or need data; they are parsed by the command line, which refuses names
and values that it does not know.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
import typer
from scripts.diagrams import rooms
from scripts.diagrams.__main__ import DRAWN, FOLDER

from lossyfl import cli

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_run_in_order(page: Path, tmp_path: Path) -> None:
    code = "\n".join(BLOCK.findall(page.read_text()))
    if code:
        # Typer below 0.21, which Flower asks for, uses what click has deprecated.
        quiet = ["-W", "error", "-W", "ignore:'click.utils:DeprecationWarning"]
        subprocess.run([sys.executable, *quiet, "-c", code], cwd=tmp_path, check=True)


SHELL = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`(lossyfl [^`]*)`")


def commands(page: Path) -> Iterator[list[str]]:
    """Every `lossyfl` command of a page, in blocks and in sentences."""
    text = page.read_text()
    blocks = [line for block in SHELL.findall(text) for line in block.splitlines()]
    for line in blocks + [" ".join(found.split()) for found in INLINE.findall(text)]:
        words = shlex.split(line, comments=True)
        if words[:1] == ["lossyfl"]:
            yield words[1:]


def parse(words: list[str]) -> None:
    """Let the command line read a command without running it."""
    command: click.Command = typer.main.get_command(cli.app)
    while isinstance(command, click.Group) and words:
        assert words[0] in command.commands, words
        command, words = command.commands[words[0]], words[1:]
    if words:  # without any it is named, not typed
        command.make_context(command.name, words, resilient_parsing=False).close()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_are_known(page: Path) -> None:
    for words in commands(page):
        parse(words)


def test_a_wrong_command_is_seen() -> None:
    with pytest.raises(click.UsageError):
        parse(["run", "--round", "3"])


def test_the_start_runs_as_it_is_typed(tmp_path: Path) -> None:
    text = (ROOT / "docs/index.md").read_text()
    script = "".join(SHELL.findall(text)).replace("--rounds 20", "--rounds 2 --workers 1")
    script = script.replace("--rounds 10", "--rounds 10 --workers 1")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["bash", "-ec", script], cwd=tmp_path, check=True, env=os.environ | {"PATH": path}
    )
    assert "bytes" in (tmp_path / "runs/three/report.html").read_text()
    assert (tmp_path / "runs/three/curves.svg").stat().st_size > 10_000


def test_the_site_builds(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir"]
    environment = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    subprocess.run([*build, str(tmp_path)], cwd=ROOT, check=True, env=environment)
    assert "Refused" in (tmp_path / "api/index.html").read_text()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)", page.read_text()):
        if "://" not in target:
            assert (page.parent / target).exists(), target


def test_every_make_target_of_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"\bmake ([a-z-]+)", (ROOT / "README.md").read_text()))
    assert named
    assert named <= targets


@pytest.mark.parametrize("name", DRAWN)
def test_diagrams_are_those_of_the_code(name: str) -> None:
    same = (FOLDER / name).read_text() == DRAWN[name]()
    assert same, f"docs/diagrams/{name} is not that of the code any more: make docs"


def test_every_room_is_explained() -> None:
    page = (ROOT / "docs/architecture.md").read_text()
    table = "".join(re.findall(r"^\| (`.*?) \|", page, re.MULTILINE))
    assert set(re.findall(r"`(\w+)`", table)) == set(rooms.rooms())
