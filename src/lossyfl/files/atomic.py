"""Files that are there whole or not at all."""

import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

from lossyfl.errors import InputError


def write_atomically(
    path: Path, pieces: Iterable[bytes | memoryview], *, durable: bool = True
) -> None:
    """Write beside `path`, then rename; on any error `path` is as it was.

    Not `durable` is whole after a crash of the process, but maybe not after one of the machine.
    """
    if not path.parent.is_dir():
        raise InputError("folder", of=path.name, allowed="one that exists", got=str(path.parent))
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        allowed = "one that can be written"
        raise InputError("folder", of=path.name, allowed=allowed, got=str(error)) from error
    try:
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        Path(name).chmod(0o666 & ~mask)  # as any other file, not as a temporary one
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
