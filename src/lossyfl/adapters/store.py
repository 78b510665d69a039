"""What a device remembers, on its own disk.

Frameworks keep a device's context in memory and lose it on a restart. So a device keeps two files in turn,
and a third that says which of them holds: the other one is written before the reply leaves, then the third
is replaced. (Memory of a file that is there is written faster than a new file is made.)

Files are mapped into memory when they are read, every byte is checked against a digest, and the folder is
locked while a message is worked on. What is damaged, malformed, or of another scheme or model, is as good as
none: the device says so in its log and begins anew, and the server sends it the model. Nobody else can
look into the folder of a training; symbolic links in it are refused, not followed, and no hard link is
written through.

Where: what the framework's settings say, else $LOSSYFL_STATE, else the user's state directory; below that a
folder for each training and device. How much of it stays: `lossyfl.adapters.folders`.
"""

import errno
import fcntl
import os
from collections.abc import Generator
from contextlib import contextmanager
from logging import WARNING
from pathlib import Path

import xxhash

from lossyfl.adapters import folders
from lossyfl.adapters.framework import OWN, Framework
from lossyfl.adapters.remembered import Remembered, check_remembered
from lossyfl.errors import InputError, LossyflError
from lossyfl.files import snapshot
from lossyfl.files.atomic import STATE, STATE_FOLDER, open_private, private_folder, write_atomically

SLOTS = ("device-0.safetensors", "device-1.safetensors")
CURRENT = "current"


class InUse(LossyflError):
    """Another process works in the same folder."""


class Store:
    """The file of one device in one training."""

    def __init__(
        self,
        root: Path,
        training: str,
        number: int,
        *,
        quota: int = folders.QUOTA,
        framework: Framework = OWN,
    ) -> None:
        self.folder = root / training / str(number)
        self._root, self._quota, self.framework = root, quota, framework

    @property
    def path(self) -> Path:
        """The file that holds."""
        return self.folder / (self._current() or SLOTS[0])

    def _current(self) -> str | None:
        """The name of the file that holds; None if nothing says so, or nothing that can be used."""
        try:
            fd = open_private(self.folder / CURRENT, write=False)
        except FileNotFoundError:
            return None
        try:
            said = os.read(fd, 100)
        finally:
            os.close(fd)
        for name in SLOTS:
            if said == _pointer(name):
                return name
        self.framework.log(WARNING, "lossyfl: %s is damaged", self.folder / CURRENT)
        return None

    @contextmanager
    def locked(self) -> Generator[None]:
        """Keep every other process out of the folder while a message is worked on."""
        with self._ours():
            new_training, new_device = self._make_folders()
            lock = open_private(self.folder / folders.LOCK)
        try:
            if new_training:
                folders.sweep(self._root)
            self._lock(lock)
            if new_device:
                folders.make_room(self._root, self.folder, 0, self._quota, self.framework)
            yield
        finally:
            os.close(lock)

    def _make_folders(self) -> tuple[bool, bool]:
        """Make them, for us alone; whether the training is new, and whether the device is new in it."""
        self._root.mkdir(STATE_FOLDER, parents=True, exist_ok=True)
        fresh = (not self.folder.parent.is_dir(), not self.folder.is_dir())
        private_folder(self.folder.parent)
        private_folder(self.folder)
        return fresh

    def _lock(self, lock: int) -> None:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            own = self.framework
            raise InUse(
                f"another {own.device} works in {self.folder}: give each {own.own_number}, or "
                f"its own folder ({own.own_folder})"
            ) from None

    @contextmanager
    def _ours(self) -> Generator[None]:
        """Whatever a disk or somebody else's file does is an error of ours."""
        try:
            yield
        except OSError as error:
            own = self.framework
            allowed = "a folder of its own that can be written, with no links in it"
            allowed += f" ({own.own_folder})"
            if _is_full(error):
                allowed = f"on a disk with room for it: {own.room}"
            of = f"a {own.device}"
            raise InputError("state", of=of, allowed=allowed, got=str(error)) from error

    def load(self, scheme: str) -> Remembered:
        """What is remembered; as of a new device if nothing is, or nothing that can be used."""
        with self._ours():
            name = self._current()
            if name is None:
                return Remembered(scheme=scheme)
            try:
                found = check_remembered(snapshot.load(self.folder / name, Remembered, mapped=True))
            except InputError as error:
                self.framework.log(
                    WARNING, "lossyfl: %s: %s; the device begins anew", self.folder, error
                )
                return Remembered(scheme=scheme)
        return found if found.scheme == scheme else Remembered(scheme=scheme)

    def save(self, remembered: Remembered) -> None:
        """Replace what is remembered, all or nothing."""
        with self._ours():
            self._make_room(snapshot.nbytes(remembered))
            other = SLOTS[1 - SLOTS.index(self.path.name)]
            snapshot.overwrite(self.folder / other, remembered)
            pointer = self.folder / CURRENT
            write_atomically(pointer, [_pointer(other)], durable=False, mode=STATE)

    def check_room(self, nbytes: int) -> None:
        """Raise if a state of so many bytes is more than this device may keep."""
        folders.check_quota(2 * nbytes, self._quota, self.framework)

    def _make_room(self, nbytes: int) -> None:
        """Room for both files, if they are not so long already."""
        sizes = [path.stat().st_size if path.is_file() else 0 for path in self._slots()]
        if min(sizes) < nbytes:
            folders.make_room(self._root, self.folder, 2 * nbytes, self._quota, self.framework)

    def _slots(self) -> list[Path]:
        return [self.folder / name for name in SLOTS]


def _is_full(error: OSError) -> bool:
    """Whether a disk has no room; a DiskError has its cause."""
    first = error.__cause__ if isinstance(error.__cause__, OSError) else error
    return first.errno in (errno.ENOSPC, errno.EDQUOT)


def _pointer(name: str) -> bytes:
    """What the third file holds if this one counts."""
    return f"{name} {xxhash.xxh3_64_hexdigest(name.encode())}".encode()
