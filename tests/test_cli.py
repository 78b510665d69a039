"""The command line, as a user types it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.helpers import laplace
from typer.main import get_command
from typer.testing import CliRunner

from lossyfl import cli
from lossyfl.commands import program


def run(*arguments: str | Path, code: int = 0) -> str:
    command = [sys.executable, "-m", "lossyfl", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """All commands, with those of groups."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


SHORT = {"-o": "--out", "-q": "--quiet"}


class TestApp:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["codec", "incode", "x.npy"], "No such command"),
            (["bench", "codec", "--out", "{d}/no/x.json"], "a file in a folder that exists"),
            (["bench", "server", "--out", "{d}/no/x.json"], "a file in a folder that exists"),
            (["bound", "--plot", "{d}/b.xyz"], "one of .png, .svg, .pdf"),
        ],
    )
    def test_wrong_use_is_one_clear_line(
        self, tmp_path: Path, arguments: list[str], message: str
    ) -> None:
        said = run(*(each.format(d=tmp_path) for each in arguments), code=2)
        assert message in said.replace("\n", " ")

    def test_options_mean_the_same_everywhere(self) -> None:
        """--json prints, -q is quiet, -o is --out and says where what is made goes."""
        root = get_command(cli.app)
        found = dict(commands(root))
        assert len(found) > 15
        for name, command in found.items():
            for option in command.params:
                spelt = set(option.opts)
                for short, long in SHORT.items():
                    assert (short in spelt) == (long in spelt), f"{name}: {spelt}"
                if "--json" in spelt or "--quiet" in spelt:
                    assert option.is_flag, f"{name}: {spelt}"

    def test_own_modules_of_the_current_folder_are_found(self, tmp_path: Path) -> None:
        """Behind what is installed: a stray numpy.py is none of ours."""
        np.save(tmp_path / "x.npy", laplace(2000))
        (tmp_path / "own_for_test.py").write_text("from lossyfl.quantizers.stochastic import *\n")
        (tmp_path / "numpy.py").write_text("raise SystemExit('a stray file ran')\n")
        program = "import sys; sys.path.remove(''); from lossyfl.cli import main; main()"
        asked = ("codec", "encode", "x.npy", "-Q", "own_for_test:Stochastic:levels=3")
        command = [sys.executable, "-c", program, *asked]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "x.npy.lfl").is_file()

    @pytest.mark.parametrize("asked", ["codec", "run", "bound", "--help", "", "no-such-command"])
    def test_only_what_is_asked_for_is_made(
        self, asked: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """All commands where none of them is asked for: for the help, and for what a name may have meant."""
        app, names = cli.app, {name.split()[0] for name, _ in commands(get_command(cli.app))}
        for kind in ("registered_groups", "registered_commands"):
            monkeypatch.setattr(app, kind, getattr(app, kind))
        program._leave_out_others([asked] if asked else [])
        left = [app.registered_groups, app.registered_commands]
        made = {name.split()[0] for name, _ in commands(get_command(app))}
        assert made == ({asked} if asked in names else names)
        assert left == [app.registered_groups, app.registered_commands]

    def test_help_and_version(self) -> None:
        runner = CliRunner()
        assert "codec" in runner.invoke(cli.app, ["--help"]).output
        assert runner.invoke(cli.app, ["--version"]).output.startswith("lossyfl 0.")

    def test_bound(self, tmp_path: Path) -> None:
        files = ("--out", tmp_path / "b.json", "--plot", tmp_path / "b.png")
        said = run("bound", "--quick", "--samples", "300", *files)
        assert "the bound holds at every round in 32 of 32 settings" in said
        assert len(json.loads((tmp_path / "b.json").read_text())) == 32
        assert (tmp_path / "b.png").stat().st_size > 10_000

    def test_a_caution_is_one_line_said_once(self, tmp_path: Path) -> None:
        asked = ("--task", "digits", "--scheme", "lb:q2=1", "--rounds", "1", "--devices", "2")
        said = run("run", *asked, "--out", tmp_path / "run")
        assert said.count("lossyfl: caution: lb keeps errors of Stochastic(levels=1") == 1
        assert "Caution" not in said
