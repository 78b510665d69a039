"""Optional dependencies."""

import importlib
from typing import Any

from lossyfl.errors import MissingExtra


def require(module: str, *, extra: str) -> Any:  # noqa: ANN401 - whatever the module is
    """An optional module; if it is missing, the error is the command that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise MissingExtra(module.partition(".")[0], extra=extra) from None
