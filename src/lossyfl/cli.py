"""The door of the command line: what can be said at once is said before typer is imported.

`app` is the program with all commands, made when it is first asked for; `main` runs it, or another one.
"""

import sys

TYPE_CHECKING = False  # that of typing takes half as long as Python's own start
if TYPE_CHECKING:
    from collections.abc import Callable

    from lossyfl.commands.program import app

__all__ = ["app", "main"]


def __getattr__(name: str) -> object:
    if name != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lossyfl.commands.program import app

    return app


def main(program: "Callable[[], object] | None" = None) -> None:
    """Run the command line; errors that lossyfl raises on purpose are one line and exit code 2.

    program: another one that ends in the same way

    Ctrl-C is one line and 130, wherever it comes; a run whose first round is done ends its round first.
    """
    if program is None and sys.argv[1:] == ["--help"]:
        from lossyfl.commands.overview import text

        sys.stdout.write(text())
        return
    from lossyfl.commands.program import conduct

    conduct(program)
