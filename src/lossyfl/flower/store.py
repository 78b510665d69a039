"""What a device remembers, on its own disk.

Flower keeps a node's context in memory and loses it on a restart; in a deployment it silently drops a
large one. So a device keeps two files in turn, and a third that says which of them holds: the other one is
written before the reply leaves, then the third is replaced. (Memory of a file that is there is written
faster than a new file is made.) What a process has written is whole as long as the machine runs; so the
third file also names that time, and after a crash of the machine nothing is believed.

Files are mapped into memory when they are read, and locked while a message is worked on. One that is
damaged, or of another scheme or model, is as good as none: the device begins anew and the server sends it
the model.

Where: `lossyfl-dir` of the node's config, else $LOSSYFL_STATE, else the user's state directory; below
that a folder for each training and device. Folders of trainings that nobody touched for 30 days are
removed when another training begins.
"""

import fcntl
import os
import re
import shutil
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from lossyfl.errors import InputError, LossyflError
from lossyfl.files import snapshot
from lossyfl.files.atomic import write_atomically
from lossyfl.states import DeviceState

TRAINING = re.compile("[0-9a-f]{16}")
"""What a training is called."""
UNKNOWN_BOOT = "unknown"
SLOTS = ("device-0.safetensors", "device-1.safetensors")
KEEP = 30 * 24 * 3600
"""Seconds after which the folder of a training is removed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """A device's state, the layout of its model, and what of the model is not a float.

    scheme: that the state belongs to
    exact:  (name, dtype, serialization, shape, bytes) of every array that is not a float, flat
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

    def __init__(self, root: Path, training: str, number: int) -> None:
        self.folder = root / training / str(number)
        self._root = root

    @property
    def path(self) -> Path:
        """The file that holds."""
        chosen, _ = self._current()
        return self.folder / chosen

    def _current(self) -> tuple[str, str]:
        """The file that holds, and when the machine was started that wrote it; empty for none."""
        try:
            chosen, boot = (self.folder / "current").read_text().split()
        except (OSError, ValueError):
            return SLOTS[0], ""
        return (chosen, boot) if chosen in SLOTS else (SLOTS[0], "")

    @contextmanager
    def locked(self) -> Generator[None]:
        """Keep every other process out of the folder while a message is worked on."""
        fresh = not self.folder.parent.is_dir()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / ".lock").open("w")
        except OSError as error:
            allowed = "a folder that can be written (lossyfl-dir of the node's config)"
            raise InputError("state", of="a node", allowed=allowed, got=str(error)) from error
        if fresh:
            self._sweep()
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InUse(
                    f"another node works in {self.folder}: give each its own partition-id, or its own "
                    "lossyfl-dir in the node's config"
                ) from None
            os.utime(self.folder.parent)
            yield

    def load(self, scheme: str) -> Remembered:
        """What is remembered; as of a new device if nothing is, or nothing that can be used."""
        chosen, boot = self._current()
        whole = boot == boot_id() != UNKNOWN_BOOT
        try:
            path = self.folder / chosen
            found = snapshot.load(path, Remembered, mapped=True, digest=not whole)
        except InputError:
            return Remembered(scheme=scheme)
        return found if found.scheme == scheme else Remembered(scheme=scheme)

    def save(self, remembered: Remembered) -> None:
        """Replace what is remembered, all or nothing."""
        other = SLOTS[1 - SLOTS.index(self.path.name)]
        boot = boot_id()
        snapshot.overwrite(self.folder / other, remembered, digest=boot == UNKNOWN_BOOT)
        text = f"{other} {boot}"
        write_atomically(self.folder / "current", [text.encode()], durable=False)

    def _sweep(self) -> None:
        """Remove the folders of trainings that are long over, and nothing that is not one."""
        for folder in self._root.iterdir():
            with suppress(OSError):  # another node may have been quicker
                ours = TRAINING.fullmatch(folder.name) and any(folder.glob("*/.lock"))
                if ours and folder.stat().st_mtime < time.time() - KEEP:
                    shutil.rmtree(folder)


@cache
def boot_id() -> str:
    """What is the same until the machine is started anew."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return UNKNOWN_BOOT


def default_root() -> Path:
    """Where devices keep what they remember, if nobody says so."""
    if own := os.environ.get("LOSSYFL_STATE"):
        return Path(own)
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state"
    return Path(base) / "lossyfl"
