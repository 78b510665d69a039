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
from lossyfl.commands import codec
from lossyfl.wire.header import MAX_ENTRIES


def run(*arguments: str | Path, code: int = 0) -> str:
    command = [sys.executable, "-m", "lossyfl", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def vector(tmp_path: Path) -> Path:
    np.save(tmp_path / "x.npy", laplace(20_000))
    return tmp_path / "x.npy"


class TestCodec:
    def test_encode_inspect_decode(self, vector: Path, tmp_path: Path) -> None:
        packed = tmp_path / "x.npy.lfl"
        said = run("codec", "encode", vector, "-Q", "stochastic:levels=5")
        assert f"{packed.stat().st_size:,} bytes" in said.replace("\n", "")
        text = run("codec", "inspect", packed)
        for word in ("entropy", "real size", "R_Q (q = 5)", "against 32 bits", "symbols"):
            assert word in text
        run("codec", "decode", packed, "-o", tmp_path / "y.npy")
        assert np.load(tmp_path / "y.npy").shape == (20_000,)

    def test_json(self, vector: Path, tmp_path: Path) -> None:
        said = json.loads(run("codec", "encode", vector, "--json"))
        assert said["target"] == (tmp_path / "x.npy.lfl").stat().st_size
        info = json.loads(run("codec", "inspect", tmp_path / "x.npy.lfl", "--json"))
        assert info["nbytes"] == said["target"]
        assert info["entries"] == 20_000

    def test_seed_decides_the_bytes(self, vector: Path, tmp_path: Path) -> None:
        for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
            run("codec", "encode", vector, "-o", tmp_path / name, "--seed", seed)
        a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
        assert a == b != c

    def test_output_is_not_overwritten(self, vector: Path, tmp_path: Path) -> None:
        (tmp_path / "out").write_text("precious")
        said = run("codec", "encode", vector, "-o", tmp_path / "out", code=2)
        assert "must be a new file, or --force" in said
        assert (tmp_path / "out").read_text() == "precious"
        run("codec", "encode", vector, "-o", tmp_path / "out", "--force")

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["codec", "inspect", "no-such-file"], "must be one that exists"),
            (["codec", "encode", "{x}", "-Q", "stocastic"], "did you mean stochastic?"),
            (
                ["codec", "encode", "{x}", "-Q", "stochastic:levels=0"],
                "an int in [1, 32767], got 0",
            ),
            (["codec", "encode", "{x}", "--seed", "-1"], "--seed"),
            (["codec", "encode", "{x}", "--threads", "0"], "threads"),
            (["codec", "inspect", "{x}"], "content of x.npy must be a frame or a bundle"),
            (["codec", "incode", "{x}"], "No such command"),
            (["codec", "encode", "."], "must be one that exists"),
            (["codec", "encode", "{x}", "-o", "{x}", "--force"], "another file than the source"),
            (["codec", "encode", "{x}", "-o", "{d}", "--force"], "a file in a folder that exists"),
            (["codec", "encode", "{x}", "-Q", ".:a"], "path of quantizer must be"),
            (["codec", "encode", "{x}", "-Q", "os.path:join"], "path of quantizer must be"),
            (
                ["codec", "encode", "{x}", "-Q", "lossyfl.protocol.schemes:levels"],
                "options of lossyfl.protocol.schemes:levels must be",
            ),
            (["codec", "encode", "{x}", "-Q", "os.path:getcwd"], "path of quantizer must be"),
            (["codec", "encode", "{x}", "-Q", "collections.abc:Sized"], "must be"),
            (["codec", "encode", "{x}", "-Q", "types.x:SimpleNamespace"], "path of quantizer"),
            (["bench", "codec", "--out", "{d}/no/x.json"], "a file in a folder that exists"),
            (["bench", "server", "--out", "{d}/no/x.json"], "a file in a folder that exists"),
            (["bound", "--plot", "{d}/b.xyz"], "one of .png, .svg, .pdf"),
        ],
    )
    def test_wrong_use_is_one_clear_line(
        self, vector: Path, arguments: list[str], message: str
    ) -> None:
        said = run(*(a.format(x=vector, d=vector.parent) for a in arguments), code=2)
        assert message in said.replace("\n", " ")

    def test_limit_is_the_librarys(self) -> None:
        assert codec.MAX_ENTRIES == MAX_ENTRIES


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:  # noqa: ANN401
    """All commands, with those of groups."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield " ".join((*path, name)), command


SHORT = {"-o": "--out", "-q": "--quiet"}


class TestApp:
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

    def test_own_modules_of_the_current_folder_are_found(
        self, vector: Path, tmp_path: Path
    ) -> None:
        """Behind what is installed: a stray numpy.py is none of ours."""
        (tmp_path / "own_for_test.py").write_text("from lossyfl.quantizers.stochastic import *\n")
        (tmp_path / "numpy.py").write_text("raise SystemExit('a stray file ran')\n")
        program = "import sys; sys.path.remove(''); from lossyfl.cli import main; main()"
        asked = ("codec", "encode", str(vector), "-Q", "own_for_test:Stochastic:levels=3")
        command = [sys.executable, "-c", program, *asked]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / "x.npy.lfl").is_file()

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
        assert said.count("lossyfl: caution: lb with q = 1 keeps errors that grow") == 1
        assert "Caution" not in said

    def test_demo(self) -> None:
        rows = json.loads(run("codec", "demo", "--json"))
        assert len(rows) == 6
        assert all(row["nbytes"] < 38_440 for row in rows)
        assert "vs 32 bits" in run("codec", "demo")
