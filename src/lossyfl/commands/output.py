"""Files that a command will write, checked before the work that fills them."""

from pathlib import Path

from lossyfl.errors import InputError

FIGURES = (".png", ".svg", ".pdf")
"""The kinds of files that figures are written to."""


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
