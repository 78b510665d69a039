"""Optional dependencies."""

import importlib
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any

from lossyfl.errors import MissingExtra


def require(module: str, *, extra: str) -> Any:  # noqa: ANN401 - whatever the module is
    """An optional module; if it is missing, the error is the command that installs it."""
    with of_extra(extra):
        return importlib.import_module(module)


@contextmanager
def of_extra(extra: str) -> Generator[None]:
    """Import modules of an extra; the error for one that is missing is the command that installs it."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtra((error.name or extra).partition(".")[0], extra=extra) from None


def check_installed(module: str, *, extra: str) -> None:
    """Raise if an optional module is missing, without the time that its import takes."""
    if find_spec(module) is None:
        raise MissingExtra(module, extra=extra)
