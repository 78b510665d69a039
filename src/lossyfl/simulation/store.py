"""What devices remember between rounds, in one memory-mapped file.

Every device has two slots. Work since the last checkpoint goes to the slot that the checkpoint does not
name, so a run that is killed at any moment finds the checkpoint's slots as they were. Ten thousand
devices take disk, and only those at work take memory.

A slot is 16 whole numbers (the last accepted round, the optimizer's steps), then delta_m, then the
optimizer's moments, as float32.
"""

import fcntl
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import InputError
from lossyfl.links import LinkState
from lossyfl.tasks.training import Moments
from lossyfl.types import Vector

HEADER = 16
"""float32 places that hold the slot's whole numbers."""

FRESH = -1
"""The slot of a device that has not trained yet."""

Slots: TypeAlias = NDArray[np.int8]


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What one device remembers; views of the file."""

    accepted: int
    uplink: LinkState
    moments: Moments


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """How large the file is: devices, and the entries of delta_m and of the moments."""

    devices: int
    memory: int
    moments: int

    @property
    def slot(self) -> int:
        """float32 places in a slot, a multiple of a cache line."""
        return -(-(HEADER + self.memory + self.moments) // 16) * 16

    @property
    def nbytes(self) -> int:
        """The bytes of the file."""
        return 4 * 2 * self.devices * self.slot


def create(path: Path, shape: Shape) -> None:
    """Make the file, with its room on the disk: later there is no error that says it is full."""
    with path.open("wb") as file:
        file.truncate(shape.nbytes)
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(file.fileno(), 0, shape.nbytes)


def wait_until_alone(path: Path) -> None:
    """Return when no process has the file open: workers of a run that was killed may be at work still."""
    if path.is_file():
        with path.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)


class Store:
    """The file, opened by one process; it says so by a shared lock until it closes it."""

    def __init__(self, path: Path, shape: Shape) -> None:
        if not path.is_file() or path.stat().st_size != shape.nbytes:
            allowed = f"a file of {shape.nbytes:,} bytes"
            raise InputError("content", of=str(path), allowed=allowed, got="another")
        self.shape = shape
        self._file = path.open("rb")
        fcntl.flock(self._file, fcntl.LOCK_SH)
        dimensions = (shape.devices, 2, shape.slot)
        self._mapped = np.memmap(path, dtype=np.float32, mode="r+", shape=dimensions)
        self._slots: NDArray[np.float32] = np.asarray(self._mapped)
        self._fresh = np.zeros(shape.slot, dtype=np.float32)
        self._fresh[:HEADER].view(np.int64)[0] = -1

    def read(self, device: int, slot: int) -> Remembered:
        """What a slot holds."""
        record = self._fresh if slot == FRESH else self._slots[device, slot]
        numbers = record[:HEADER].view(np.int64)
        memory, moments = self._vectors(record)
        return Remembered(
            accepted=int(numbers[0]),
            uplink=LinkState(memory=memory),
            moments=Moments(values=moments, steps=int(numbers[1])),
        )

    def write(self, device: int, slot: int, what: Remembered) -> None:
        """Fill a slot."""
        record = self._slots[device, slot]
        memory, moments = self._vectors(record)
        memory[:] = what.uplink.memory
        if what.moments.steps:
            moments[:] = what.moments.values
        numbers = record[:HEADER].view(np.int64)
        numbers[0], numbers[1] = what.accepted, what.moments.steps

    def close(self) -> None:
        """Give up the lock; what was read stays."""
        self._file.close()

    def flush(self) -> None:
        """Bring all to the disk."""
        self._mapped.flush()

    def _vectors(self, record: Vector) -> tuple[Vector, Vector]:
        middle = HEADER + self.shape.memory
        return record[HEADER:middle], record[middle : middle + self.shape.moments]
