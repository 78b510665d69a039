"""Options that take several values at once: `--schemes lossless lb lfl`."""

from typing import Any, ClassVar

from typer.core import TyperCommand


class Variadic(TyperCommand):
    """A command whose list options may be given all their values behind one name."""

    several: ClassVar[tuple[str, ...]] = ("--schemes",)

    # Older versions of typer have click's context, newer ones a copy of it: neither is imported here.
    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401
        """Repeat the option's name before each of its values, as typer wants it."""
        return super().parse_args(ctx, spread(args, self.several))


def spread(arguments: list[str], several: tuple[str, ...]) -> list[str]:
    """The arguments with one value behind each option.

    An option without a value stays as it is, for typer to say so.

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
