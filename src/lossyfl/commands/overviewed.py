"""The program's own help, which is the same with typer as without."""

from typing import Any

from typer.core import TyperGroup

from lossyfl.commands.output import echo
from lossyfl.commands.overview import text


class Overviewed(TyperGroup):
    """All commands, whose help is the overview."""

    # Older versions of typer have click's context and formatter, newer ones copies of them.
    def format_help(self, ctx: Any, formatter: Any) -> None:  # noqa: ANN401
        """Show the overview at once, as typer does: without a command nobody reads the formatter."""
        del ctx, formatter
        echo(text().rstrip())
