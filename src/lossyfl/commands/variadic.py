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

    >>> spread(["--schemes", "a", "b", "--rounds", "3"], ("--schemes",))
    ['--schemes', 'a', '--schemes', 'b', '--rounds', '3']
    """
    result: list[str] = []
    open_option = ""
    for argument in arguments:
        if argument.startswith("-"):
            open_option = argument if argument in several else ""
            if not open_option:
                result.append(argument)
        elif open_option:
            result += [open_option, argument]
        else:
            result.append(argument)
    return result
