"""The folders of devices' states: what lies there, what it takes, and what may go.

    root / training / number of the device / two files in turn, a pointer and a lock

A training's name is its server's choice, so a server could fill a disk with trainings. A device keeps the
newest MOST_TRAININGS, and no more than QUOTA bytes: what was not used for longest goes first. Nothing is
removed while somebody works in it, and nothing that does not look like one of ours.
"""

import fcntl
import os
import re
import shutil
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from lossyfl.adapters.framework import OWN, Framework
from lossyfl.errors import InputError

TRAINING = re.compile("[0-9a-f]{16}")
"""What a training is called."""
NUMBER = re.compile("[0-9]{1,19}", re.ASCII)
LOCK = ".lock"
KEEP = 30 * 24 * 3600
"""Seconds after which the folder of a training is removed."""
MOST_TRAININGS = 16
"""Of which a device keeps its state."""
QUOTA = 8_000_000_000
"""Bytes that a device keeps of all trainings: those of half a billion parameters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StateFolder:
    """What one device keeps of one training; `touched` is when it was last written, in seconds."""

    path: Path
    training: str
    device: int
    nbytes: int
    touched: float


def default_root() -> Path:
    """Where devices keep what they remember, if nobody says so."""
    if own := os.environ.get("LOSSYFL_STATE"):
        return Path(own)
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local/state"
    return Path(base) / "lossyfl"


def state_folders(root: Path, device: int | None = None) -> list[StateFolder]:
    """All that lies in a root, or all of one device, the oldest first."""
    found: list[StateFolder] = []
    for training in _listed(root):
        if not TRAINING.fullmatch(training.name) or training.is_symlink():
            continue
        inside = _listed(training) if device is None else [training / str(device)]
        found += [
            made
            for path in inside
            if NUMBER.fullmatch(path.name) and (made := _state_folder(path)) is not None
        ]
    return sorted(found, key=lambda own: (own.touched, own.path))


def remove(folder: StateFolder) -> bool:
    """Remove what a device keeps of a training; False if somebody works with it."""
    with _locked(folder.path) as ours:
        if ours:
            shutil.rmtree(folder.path, ignore_errors=True)
    with suppress(OSError):  # other devices have theirs there
        folder.path.parent.rmdir()
    return not folder.path.exists()


def remove_training(root: Path, training: str) -> int:
    """Remove what all devices keep of a training; how many bytes that were."""
    own = [each for each in state_folders(root) if each.training == training]
    return sum(each.nbytes for each in own if remove(each))


def sweep(root: Path) -> None:
    """Remove what no device has touched for long."""
    for folder in state_folders(root):
        if folder.touched < time.time() - KEEP:
            remove(folder)


def make_room(
    root: Path, own: Path, needs: int, quota: int = QUOTA, framework: Framework = OWN
) -> None:
    """Remove a device's oldest states until so many bytes fit; raise if they never do.

    own: the folder that needs them, which stays
    """
    check_quota(needs, quota, framework)
    others = [each for each in state_folders(root, int(own.name)) if each.path != own]
    total = needs + sum(each.nbytes for each in others)
    for at, folder in enumerate(others):
        if total <= quota and len(others) - at < MOST_TRAININGS:
            return
        if remove(folder):
            total -= folder.nbytes
    check_quota(total, quota, framework)  # others may be in use


def check_quota(needs: int, quota: int, framework: Framework = OWN) -> None:
    """Raise if a state is larger than all that a device may keep."""
    if needs > quota:
        allowed = f"at most {quota:,} bytes ({framework.quota})"
        raise InputError("state", of=f"a {framework.device}", allowed=allowed, got=f"{needs:,}")


def _listed(folder: Path) -> Iterable[Path]:
    with suppress(OSError):  # none, or another device was quicker
        return [path for path in folder.iterdir() if path.is_dir()]
    return []


def _state_folder(path: Path) -> StateFolder | None:
    """The folder of a device, if it is one."""
    with suppress(OSError):
        if path.is_symlink() or not (path / LOCK).is_file():
            return None
        stats = [each.lstat() for each in path.iterdir()]
        return StateFolder(
            path=path,
            training=path.parent.name,
            device=int(path.name),
            nbytes=sum(each.st_size for each in stats),
            touched=max(each.st_mtime for each in stats),
        )
    return None


@contextmanager
def _locked(folder: Path) -> Generator[bool]:
    """Keep others out, if nobody is in it."""
    try:
        lock = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW)
    except OSError:
        yield False
        return
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        yield False
    else:
        yield True
    finally:
        os.close(lock)
