"""The program without a command shows its help."""

from typer.testing import CliRunner

from lossyfl.cli import app
from lossyfl.commands.overview import text


def test_no_command_is_help() -> None:
    assert text().strip() in CliRunner().invoke(app, []).output
