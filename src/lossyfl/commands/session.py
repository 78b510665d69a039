"""What a command turns on for itself, and what is turned off when it ends."""

import sys
from collections.abc import Generator, Iterable
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lossyfl.registry import from_outside, paths

if TYPE_CHECKING:
    from lossyfl.commands.progress import Display

D = TypeVar("D", bound="Display")

_ends: ContextVar[ExitStack] = ContextVar("ends")


@contextmanager
def until_the_end() -> Generator[None]:
    """A command: what it turns on for itself is turned off when it ends."""
    with ExitStack() as stack:
        token = _ends.set(stack)
        try:
            yield
        finally:
            _ends.reset(token)


def until_it_ends(display: "D") -> "D":
    """A display that is closed with the command, whatever happens."""
    _ends.get().callback(display.ended)
    return display


def import_only(allow: Iterable[str] | None, typed: Iterable[object] = ()) -> None:
    """To the end of this command, import nothing that only a file names: it may be a stranger's.

    allow: what --allow says
    typed: what else was typed on the command line
    """
    named = [path for value in typed if value is not None for path in paths(str(value))]
    how = "repeat the command with --allow {} if you trust its code"
    _ends.get().enter_context(from_outside([*(allow or ()), *named], how))


def import_from_here() -> None:
    """Let `--task mypackage.mymodule:make_task` be found in the current folder, behind all that is installed.

    Not before it, as `python -m` does: a numpy.py in a folder of downloads must not run.
    """
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))
