"""The program's help, which is said without typer: the same commands, and the same words."""

import shlex
import subprocess
import sys

import click
import pytest
import typer
from typer.testing import CliRunner

from lossyfl import cli
from lossyfl.commands.overview import EXAMPLES, GROUPS, examples, text

PROGRAM = typer.main.get_command(cli.app)
assert isinstance(PROGRAM, click.Group)
COMMANDS = PROGRAM.commands


def test_every_command_is_there_with_its_first_line() -> None:
    told = {name: words for group in GROUPS.values() for name, words in group.items()}
    assert told == {name: (each.help or "").partition("\n")[0] for name, each in COMMANDS.items()}


def test_it_is_the_same_with_typer_and_without() -> None:
    assert CliRunner().invoke(cli.app, ["--help"]).output.strip() == text().strip()
    code = (
        "import sys; sys.argv[1:] = ['--help']; from lossyfl.cli import main; main(); "
        "print({'typer', 'rich', 'numpy', 'typing'} & set(sys.modules))"
    )
    code = f"sys_path = {sys.path!r}; import sys; sys.path[:] = sys_path; {code}"
    command = [sys.executable, "-I", "-S", "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == f"{text()}set()\n"


def test_lines_fit_a_terminal() -> None:
    assert max(map(len, text().splitlines())) <= 100


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_commands(name: str) -> None:
    for example in EXAMPLES[name]:
        words = shlex.split(example)
        assert words[0] == "lossyfl"
        assert name in ("", words[1])
        command = COMMANDS[words[1]]
        command.make_context(words[1], words[2:], resilient_parsing=False).close()


def test_examples_end_the_help_of_a_command() -> None:
    said = CliRunner().invoke(cli.app, ["run", "--help"], env={"COLUMNS": "120"}).output
    for example in EXAMPLES["run"]:
        assert example in said
    assert examples("demo") is None


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_are_told_how_to_complete(shell: str) -> None:
    environment = {"_LOSSYFL_COMPLETE": f"source_{shell}"}
    done = CliRunner().invoke(cli.app, [], env=environment, prog_name="lossyfl")
    assert "_LOSSYFL_COMPLETE" in done.output
