"""Options are made of settings and of groups; they are the same in every command."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import pytest
import typer
from tests.test_cli import commands
from typer.main import get_command
from typer.testing import CliRunner

from lossyfl import cli
from lossyfl.commands.execution import SETTINGS
from lossyfl.commands.spread import Said, of, option, spread

ROOT = Path(__file__).parents[2]


class Group(NamedTuple):
    speed: Annotated[float, typer.Option(help="How fast.")]
    loud: Annotated[bool, typer.Option("--loud", "-l")] = False


def call(*arguments: str) -> tuple[object, ...]:
    """What a command is called with."""
    seen: list[tuple[object, ...]] = []

    def command(
        name: Annotated[str, typer.Argument()],
        said: Annotated[Said, of("seed", "tensorboard", "out", rounds="many")],
        group: Group,
    ) -> None:
        seen.append((name, said, group))

    app = typer.Typer()
    app.command()(spread(command))
    done = CliRunner().invoke(app, ["a", "--speed", "2", *arguments])
    assert done.exit_code == 0, done.output
    return seen[0]


def test_only_what_is_said_is_said() -> None:
    assert call() == ("a", {}, Group(speed=2.0))
    said = call("--seed", "0", "--tensorboard", "-o", "b", "--loud")
    assert said == ("a", {"seed": 0, "tensorboard": True, "out": Path("b")}, Group(2.0, loud=True))


def test_help_says_the_default_of_the_command() -> None:
    assert option("seed", "0").help == "Of everything random. Default: 0."
    assert option("rounds", "many").help == "How many rounds. Default: many."
    assert option("save_updates", "").help == SETTINGS["save_updates"].help


def test_an_unknown_setting_is_no_option() -> None:
    with pytest.raises(KeyError):
        of("sed")


def found(command: str) -> dict[str, Any]:
    """The options of a command by the names of their parameters."""
    known = dict(commands(get_command(cli.app)))
    return {each.name: each for each in known[command].params}


def test_run_takes_every_setting() -> None:
    assert set(SETTINGS) <= set(found("run"))


@pytest.mark.parametrize("command", ["compare", "tune", "resume", "reproduce", "demo"])
def test_a_setting_has_the_same_help_and_flags_in_every_command(command: str) -> None:
    usual, own = found("run"), found(command)
    shared = [name for name in own if name in SETTINGS and name != "out"]
    assert shared
    for name in shared:
        assert own[name].opts == usual[name].opts
        assert own[name].type.name == usual[name].type.name
        assert own[name].help.startswith(SETTINGS[name].help)


def test_commands_of_many_runs_take_all_that_suits_them() -> None:
    for command in ("compare", "tune"):
        assert set(SETTINGS) - set(found(command)) <= {
            "scheme", "downlink_budget", "uplink_budget", "first_budget",
            "checkpoint_every", "tensorboard", "save_updates",
        }  # fmt: skip


@pytest.mark.parametrize(
    "asked",
    [
        ("run",),
        ("compare",),
        ("tune",),
        ("demo",),
        ("reproduce", "fig1a"),
        ("bound",),
    ],
)
def test_a_wrong_value_is_the_same_error_in_every_command(asked: tuple[str, ...]) -> None:
    done = CliRunner().invoke(cli.app, [*asked, "--rounds", "0"])
    assert str(done.exception) == "rounds of a run must be an int >= 1, got 0"


def test_a_misspelt_option_names_the_nearest_and_imports_nothing_heavy() -> None:
    heavy = {"torch", "numpy", "flwr", "sklearn", "matplotlib", "tomllib", "json"}
    program = (
        "import sys; from lossyfl import cli\n"
        "try: cli.main()\n"
        f"finally: print({heavy} & set(sys.modules))"
    )
    command = [sys.executable, "-c", program, "run", "--rond", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "--rounds" in done.stderr
    assert done.stdout == "set()\n"


def test_the_recipe_of_contributing_is_a_program_of_its_own(tmp_path: Path) -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text().partition("## Add a command\n")[2]
    block = re.search(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert block is not None
    (tmp_path / "mine.py").write_text(f"{block[1]}\nfrom lossyfl.cli import main\n\nmain()\n")

    def run(*arguments: str) -> tuple[int, str]:
        command = [sys.executable, "mine.py", *arguments]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    assert run("folder", "runs") == (0, "runs/digits-lfl-q1=2-q2=2-0-rounds=100\n")
    code, said = run("folder", "runs", "--seed", "-1")
    assert (code, said) == (2, "lossyfl: seed of a run must be an int >= 0, got -1\n")
    assert "compare" in run("--help")[1]
