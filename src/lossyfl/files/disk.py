"""The operations that change what is on a disk, each in one place: tests make any of them fail.

A program ends between any two of them, a machine loses what was not synced: `watched` calls a function
before every operation, which may raise, end the process, or keep a record of what is safe by now.
"""

import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Name = Literal[
    "create",
    "open",
    "write",
    "truncate",
    "sync",
    "flush",
    "sync-folder",
    "replace",
    "unlink",
    "mkdir",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One that is about to happen.

    path: of the file or folder; of the target, if a file is renamed
    fd:   of an open file, else -1
    data: what is about to be written
    """

    name: Name
    path: Path
    fd: int = -1
    data: bytes | memoryview = b""


Hook = Callable[[Operation], None]
_hooks: list[Hook] = []


@contextmanager
def watched(hook: Hook) -> Generator[None]:
    """Call a function before every operation of this process and of those that it forks."""
    _hooks.append(hook)
    try:
        yield
    finally:
        _hooks.remove(hook)


def before(name: Name, path: Path, *, fd: int = -1, data: bytes | memoryview = b"") -> None:
    """Tell those who watch; for operations that are not made here, such as on mapped memory."""
    for hook in _hooks:
        hook(Operation(name=name, path=path, fd=fd, data=data))


def create(path: Path, mode: int = 0o666) -> int:
    """A new file, open for reading and writing; raises FileExistsError, for a symbolic link, too."""
    before("create", path)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(path, flags, mode)


def open_own(path: Path, flags: int, mode: int = 0o600) -> int:
    """A file that is there or is made; raises OSError for a symbolic link."""
    before("open", path)
    return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode)


def write(fd: int, path: Path, data: bytes | memoryview) -> None:
    """Write all of it."""
    left = memoryview(data).cast("B") if memoryview(data).nbytes else memoryview(b"")
    while left.nbytes:
        before("write", path, fd=fd, data=left)
        left = left[os.write(fd, left) :]


def append(path: Path, text: str) -> None:
    """Add whole lines in one write, so that no reader sees half of one."""
    with path.open("ab", buffering=0) as file:
        write(file.fileno(), path, text.encode())


def truncate(fd: int, path: Path, size: int) -> None:
    """Cut an open file, or lengthen it by zeros."""
    before("truncate", path, fd=fd)
    os.ftruncate(fd, size)


def sync(fd: int, path: Path) -> None:
    """Bring the content of an open file to the disk."""
    before("sync", path, fd=fd)
    os.fsync(fd)


def sync_folder(path: Path) -> None:
    """Bring the names in a folder to the disk: a rename is lost with the power otherwise."""
    fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        before("sync-folder", path, fd=fd)
        os.fsync(fd)
    finally:
        os.close(fd)


def replace(source: Path, target: Path) -> None:
    """Rename a file over another; a reader sees the one or the other."""
    before("replace", target)
    source.replace(target)


def unlink(path: Path) -> None:
    """Remove a file that may be gone already."""
    before("unlink", path)
    path.unlink(missing_ok=True)


def mkdir(path: Path, mode: int = 0o777) -> None:
    """Make a folder that may be there already."""
    before("mkdir", path)
    path.mkdir(mode=mode, exist_ok=True)
