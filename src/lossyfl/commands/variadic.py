"""Options that take several values at once: `--schemes lossless lb lfl`."""

from typing import ClassVar

import click
from typer.core import TyperCommand


class Variadic(TyperCommand):
    """A command whose list options may be given all their values behind one name."""

    several: ClassVar[tuple[str, ...]] = ("--schemes",)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option's name before each of its values, as click wants it."""
        return super().parse_args(ctx, spread(args, self.several))


def spread(arguments: list[str], several: tuple[str, ...]) -> list[str]:
    """The arguments with one value behind each option.

    An option without a value stays as it is, for click to say so.

    >>> spread(["--schemes", "a", "b", "--rounds", "3"], ("--schemes",))
    ['--schemes', 'a', '--schemes', 'b', '--rounds', '3']
    >>> spread(["--schemes=a", "b"], ("--schemes",))
    ['--schemes', 'a', '--schemes', 'b']
    """
    result: list[str] = []
    name, waiting = "", False
    for argument in arguments:
        if argument.startswith("-"):
            first, _, value = argument.partition("=")
            name = first if first in several else ""
            waiting = bool(name) and not value
            result += [name, value] if name and value else [argument]
        else:
            result += [argument] if waiting or not name else [name, argument]
            waiting = False
    return result
