"""What a device remembers, on its own disk.

Flower keeps a node's context in memory and loses it on a restart; in a deployment it silently drops a
large one. So a device keeps two files in turn, and a third that says which of them holds: the other one is
written before the reply leaves, then the third is replaced. (Memory of a file that is there is written
faster than a new file is made.)

Files are mapped into memory when they are read, every byte is checked against a digest, and the folder is
locked while a message is worked on. What is damaged, malformed, or of another scheme or model, is as good as
none: the device says so in its log and begins anew, and the server sends it the model. Nobody else can
look into the folder of a training; symbolic links in it are refused, not followed, and no hard link is
written through.

Where: `lossyfl-dir` of the node's config, else $LOSSYFL_STATE, else the user's state directory; below
that a folder for each training and device. How much of it stays: `lossyfl.adapters.folders`.
"""

import errno
import fcntl
import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from logging import WARNING
from pathlib import Path

import xxhash

from lossyfl.adapters import folders
from lossyfl.adapters.layout import read_layout
from lossyfl.adapters.logs import log
from lossyfl.errors import InputError, LossyflError
from lossyfl.files import snapshot
from lossyfl.files.atomic import STATE, STATE_FOLDER, open_private, private_folder, write_atomically
from lossyfl.protocol.states import DeviceState

SLOTS = ("device-0.safetensors", "device-1.safetensors")
CURRENT = "current"
SHAPE = re.compile("[0-9 ]{0,200}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A device's state, the layout of its model, and what of the model is not in its vector.

    scheme: that the state belongs to
    exact:  (name, dtype, serialization, shape, bytes) of every array that travels exactly, flat
    """

    scheme: str = ""
    layout: str = ""
    names: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    stypes: tuple[str, ...] = ()
    shapes: tuple[str, ...] = ()
    arrays: tuple[bytes, ...] = ()
    device: DeviceState = field(default_factory=DeviceState)


class InUse(LossyflError):
    """Another process works in the same folder."""


class Store:
    """The file of one device in one training."""

    def __init__(
        self, root: Path, training: str, number: int, *, quota: int = folders.QUOTA
    ) -> None:
        self.folder = root / training / str(number)
        self._root, self._quota = root, quota

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
        log(WARNING, "lossyfl: %s is damaged", self.folder / CURRENT)
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
                folders.make_room(self._root, self.folder, 0, self._quota)
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
            raise InUse(
                f"another node works in {self.folder}: give each its own partition-id, or its own "
                "lossyfl-dir in the node's config"
            ) from None

    @contextmanager
    def _ours(self) -> Generator[None]:
        """Whatever a disk or somebody else's file does is an error of ours."""
        try:
            yield
        except OSError as error:
            if _is_full(error):
                allowed = "on a disk with room for it: lossyfl flower clean shows what lies there"
                raise InputError("state", of="a node", allowed=allowed, got=str(error)) from error
            allowed = "a folder of its own that can be written, with no links in it"
            allowed += " (lossyfl-dir of the node's config)"
            raise InputError("state", of="a node", allowed=allowed, got=str(error)) from error

    def load(self, scheme: str) -> Remembered:
        """What is remembered; as of a new device if nothing is, or nothing that can be used."""
        with self._ours():
            name = self._current()
            if name is None:
                return Remembered(scheme=scheme)
            try:
                found = check_remembered(snapshot.load(self.folder / name, Remembered, mapped=True))
            except InputError as error:
                log(WARNING, "lossyfl: %s: %s; the device begins anew", self.folder, error)
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
        """Raise if a state of so many bytes is more than this node may keep."""
        folders.check_quota(2 * nbytes, self._quota)

    def _make_room(self, nbytes: int) -> None:
        """Room for both files, if they are not so long already."""
        sizes = [path.stat().st_size if path.is_file() else 0 for path in self._slots()]
        if min(sizes) < nbytes:
            folders.make_room(self._root, self.folder, 2 * nbytes, self._quota)

    def _slots(self) -> list[Path]:
        return [self.folder / name for name in SLOTS]


def _is_full(error: OSError) -> bool:
    """Whether a disk has no room; a DiskError has its cause."""
    first = error.__cause__ if isinstance(error.__cause__, OSError) else error
    return first.errno in (errno.ENOSPC, errno.EDQUOT)


def _pointer(name: str) -> bytes:
    """What the third file holds if this one counts."""
    return f"{name} {xxhash.xxh3_64_hexdigest(name.encode())}".encode()


def check_remembered(found: Remembered) -> Remembered:
    """What a file holds, if every part of it can be used; its arrays belong to the protocol."""
    columns = (found.names, found.dtypes, found.stypes, found.shapes)
    texts: list[object] = [
        found.scheme,
        found.layout,
        *(text for column in columns for text in column),
    ]
    device = found.device
    numbers = (device.round, device.replied, device.accepted)
    problem = ""
    if not all(isinstance(text, str) for text in texts):
        problem = "a text that is none"
    elif any(len(column) != len(found.arrays) for column in columns):
        problem = "facts of some arrays only"
    elif not all(SHAPE.fullmatch(shape) for shape in found.shapes):
        problem = "a shape that is none"
    elif any(type(number) is not int or not -2 <= number < 1 << 32 for number in numbers):
        problem = f"the rounds {numbers}"
    elif device.round >= 0 and not found.layout:
        problem = "an estimate without a layout"
    if problem:
        raise InputError("content", of="a device's file", allowed="a whole state", got=problem)
    if found.layout:
        read_layout(found.layout)
    return found
