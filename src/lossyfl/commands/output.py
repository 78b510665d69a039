"""What a command puts out: words that a terminal only shows, and files, checked before the work.

Errors, names and settings quote files, frames and peers, so no command writes to a terminal but through here:
lines by `echo`, tables by `console`. Lines that change in place (`progress`, `board` and `bound`) are made of
what is `printable`, and no markup.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from lossyfl.errors import InputError, printable

if TYPE_CHECKING:
    from rich.console import Console

FIGURES = (".png", ".svg", ".pdf")
"""The kinds of files that figures are written to."""


def echo(text: object, *, err: bool = False) -> None:
    """Say a line; what would move a terminal's cursor or change its title is spelled out."""
    typer.echo(printable(str(text)), err=err)


def echo_json(value: object) -> None:
    """Say what --json asks for."""
    import json  # here: no other import of the command line needs it

    echo(json.dumps(value))


def console(*, err: bool = False, width: int = 0) -> "Console":
    """Where tables are shown: words of others are neither markup nor escape sequences.

    width: the least, for tables that wrap better than they shrink
    """
    from lossyfl.commands.terminal import Terminal

    made = Terminal(stderr=err)
    made.width = max(made.width, width)
    return made


def can_write(path: Path | None, suffixes: tuple[str, ...] = ()) -> None:
    """Raise if a file cannot be written here, before the work that fills it."""
    if path is None:
        return
    if path.is_dir() or not path.parent.is_dir():
        raise InputError(
            "output", of="lossyfl", allowed="a file in a folder that exists", got=str(path)
        )
    if suffixes and path.suffix not in suffixes:
        allowed = f"one of {', '.join(suffixes)}"
        raise InputError("suffix", of="the output", allowed=allowed, got=path.name)
