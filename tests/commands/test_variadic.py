"""Several values behind one option's name."""

from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from lossyfl.commands.variadic import Variadic, spread

SCHEMES = ("--schemes",)


def asked(*line: str) -> tuple[list[str], int]:
    """What a command with such an option gets."""
    seen: list[tuple[list[str], int]] = []

    def command(
        schemes: Annotated[list[str], typer.Option()], rounds: Annotated[int, typer.Option()] = 1
    ) -> None:
        seen.append((schemes, rounds))

    app = typer.Typer()
    app.command(cls=Variadic)(command)
    done = CliRunner().invoke(app, [*line])
    assert done.exit_code == 0, done.output
    return seen[0]


@pytest.mark.parametrize(
    "line",
    [
        ("--schemes", "lb", "lfl:q1=2", "--rounds", "3"),
        ("--rounds=3", "--schemes=lb", "lfl:q1=2"),
        ("--schemes", "lb", "--rounds", "3", "--schemes", "lfl:q1=2"),
    ],
)
def test_all_spellings_are_the_same(line: tuple[str, ...]) -> None:
    assert asked(*line) == (["lb", "lfl:q1=2"], 3)


def test_options_of_one_value_stay_as_they_are() -> None:
    assert spread(["--rounds", "3", "4"], SCHEMES) == ["--rounds", "3", "4"]


@pytest.mark.parametrize("line", [["--schemes"], ["--schemes", "--rounds", "3"]])
def test_an_option_without_a_value_is_left_for_typer_to_refuse(line: list[str]) -> None:
    assert spread(line, SCHEMES) == line
