"""Files that are there whole or not at all, and files that are nobody else's business.

A temporary file is called `.NAME.0123456789abcdef.tmp` and is locked as long as its process writes it, so
whoever finds one without a lock knows that its process was killed, whatever its number was.
"""

import fcntl
import os
import re
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from lossyfl.errors import DiskError, InputError
from lossyfl.files import disk

STATE = 0o600
"""The mode of files that hold state: a device's residual says something about its data."""
STATE_FOLDER = 0o700

_TEMPORARY = re.compile(r"\.(.+)\.[0-9a-f]{16}\.tmp", re.DOTALL)
_LONGEST = 50
"""Characters of a name that are part of the temporary one: names have a limit of some 255 bytes."""


def write_atomically(
    path: Path,
    pieces: Iterable[bytes | memoryview],
    *,
    durable: bool = True,
    mode: int | None = None,
) -> None:
    """Write beside `path`, then rename; on any error before that `path` is as it was.

    Raises DiskError for whatever a disk does.
    durable: whole after a crash of the machine, too, and not only of the process
    mode:    of the file, whatever the umask says; by default as of any other new file
    """
    if not path.parent.is_dir():
        raise InputError("folder", of=path.name, allowed="one that exists", got=str(path.parent))
    try:
        remove_leftovers(path.parent, of=path.name)
        temporary, fd = _create(path, mode)
    except OSError as error:
        allowed = "one that can be written"
        raise InputError("folder", of=path.name, allowed=allowed, got=str(error)) from error
    try:
        _fill(path, temporary, fd, pieces, durable=durable)
        if durable:
            disk.sync_folder(path.parent)
    except OSError as error:
        raise DiskError(f"{path} could not be written: {error}") from error


def _fill(
    path: Path, temporary: Path, fd: int, pieces: Iterable[bytes | memoryview], *, durable: bool
) -> None:
    """Write a temporary file, and let it take the place of another."""
    try:
        for piece in pieces:
            disk.write(fd, temporary, piece)
        if durable:
            disk.sync(fd, temporary)
        disk.replace(temporary, path)
    except BaseException:
        with suppress(OSError):  # the first error is the one to tell; the next writer tries again
            disk.unlink(temporary)
        raise
    finally:
        os.close(fd)


def _create(path: Path, mode: int | None) -> tuple[Path, int]:
    """A new temporary file for `path`, locked."""
    while True:
        temporary = path.with_name(f".{path.name[:_LONGEST]}.{secrets.token_hex(8)}.tmp")
        fd = disk.create(temporary, 0o666 if mode is None else mode)
        try:
            if mode is not None:
                os.fchmod(fd, mode)
            fcntl.flock(fd, fcntl.LOCK_EX)
        except BaseException:
            os.close(fd)
            temporary.unlink(missing_ok=True)
            raise
        if _names(temporary, fd):  # nobody took it for a leftover before it was locked
            return temporary, fd
        os.close(fd)


def is_temporary(name: str, *, of: str | None = None) -> bool:
    """Whether a file is called as temporary ones are: those of one file, or of any."""
    found = _TEMPORARY.fullmatch(name)
    return bool(found) and (of is None or found[1] == of[:_LONGEST])


def remove_leftovers(folder: Path, *, of: str | None = None) -> None:
    """Remove temporary files of processes that were killed, of one file or of any; none that is written."""
    with os.scandir(folder) as entries:
        found = [Path(entry.path) for entry in entries if is_temporary(entry.name, of=of)]
    for path in found:
        with suppress(OSError):  # another process is quicker, or writes it: it is no leftover
            _remove_leftover(path)


def _remove_leftover(path: Path) -> None:
    fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
            return  # only its name is as ours
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _names(path, fd):
            disk.unlink(path)
    finally:
        os.close(fd)


def _names(path: Path, fd: int) -> bool:
    """Whether a path leads to an open file still."""
    try:
        return os.path.samestat(os.lstat(path), os.fstat(fd))
    except FileNotFoundError:
        return False


def private_folder(folder: Path) -> None:
    """Make a folder that only its owner can open, or make one that is there so.

    Raises OSError if it is a symbolic link, no folder, or somebody else's.
    """
    disk.mkdir(folder, STATE_FOLDER)
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if stat.S_IMODE(os.fstat(fd).st_mode) != STATE_FOLDER:
            os.fchmod(fd, STATE_FOLDER)
    finally:
        os.close(fd)


def open_private(path: Path, *, write: bool = True) -> int:
    """A file of ours alone, made if it is written and missing; raises OSError for a symbolic link.

    One that is written must have no second name either: a hard link would write to another's file.
    For locks and for files that are written in place. What it held is held still.
    """
    # A FIFO would have us wait for its other end: without waiting it is seen to be no file.
    flags = (os.O_RDWR | os.O_CREAT if write else os.O_RDONLY) | os.O_NONBLOCK
    fd = disk.open_own(path, flags, STATE)
    try:
        facts = os.fstat(fd)
        mode = facts.st_mode
        if not stat.S_ISREG(mode):
            raise OSError(f"{path} is no file")
        if write and facts.st_nlink > 1:
            raise OSError(f"{path} is a hard link to another file")
        if write and stat.S_IMODE(mode) != STATE:
            os.fchmod(fd, STATE)
    except BaseException:
        os.close(fd)
        raise
    return fd
