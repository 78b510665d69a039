"""What devices remember between rounds, in one memory-mapped file.

Every device has two slots. Work since the last checkpoint goes to the slot that the checkpoint does not
name, so a run that is killed at any moment finds the checkpoint's slots as they were. Ten thousand
devices take disk, and only those at work take memory.

A slot is 8 whole numbers (the last accepted round, the optimizer's steps, a digest of the rest), then
the vectors of the uplink's state (delta_m), then the optimizer's moments, as float32. The checkpoint names
the digest of every slot that holds: a bit that flipped since, or a write that never reached the disk, is
found before a run goes on.
"""

import fcntl
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import xxhash
from numpy.typing import NDArray

from lossyfl.errors import DiskError, InputError
from lossyfl.files import disk
from lossyfl.files.atomic import STATE, open_private
from lossyfl.links.state import Arrays
from lossyfl.tasks.training import OptimizerMoments
from lossyfl.types import Vector

HEADER = 16
"""float32 places that hold the slot's whole numbers."""

ACCEPTED, STEPS, DIGEST = 0, 1, 2
"""Which number says what."""

FRESH = -1
"""The slot of a device that has not trained yet."""

Slots: TypeAlias = NDArray[np.int8]
Digests: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceRecord:
    """What one device remembers; views of the file.

    uplink: the vectors of its uplink's state, by name
    """

    accepted: int
    uplink: Arrays
    moments: OptimizerMoments


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreShape:
    """How large the file is: devices, and the entries of what each of them remembers.

    uplink: the lengths of the vectors of its uplink's state, by name
    """

    devices: int
    uplink: Mapping[str, int]
    moments: int

    @property
    def slot(self) -> int:
        """float32 places in a slot, a multiple of a cache line."""
        return -(-(HEADER + sum(self.uplink.values()) + self.moments) // 16) * 16

    @property
    def nbytes(self) -> int:
        """The bytes of the file."""
        return 4 * 2 * self.devices * self.slot


def create(path: Path, shape: StoreShape) -> None:
    """Make the file, with its room on the disk: later there is no error that says it is full."""
    try:
        disk.unlink(path)
        fd = disk.create(path, STATE)
        try:
            os.fchmod(fd, STATE)
            disk.truncate(fd, path, shape.nbytes)
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(fd, 0, shape.nbytes)
        finally:
            os.close(fd)
    except OSError as error:
        raise DiskError(f"no room for the devices' {shape.nbytes:,} bytes: {error}") from error


def wait_until_alone(path: Path) -> None:
    """Return when no process has the file open: workers of a run that was killed may be at work still."""
    if path.is_file():
        with os.fdopen(_opened(path, write=False), "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)


def _opened(path: Path, *, write: bool) -> int:
    try:
        return open_private(path, write=write)
    except OSError as error:
        allowed = "a file of one's own, and no link"
        raise InputError("store", of="a run", allowed=allowed, got=str(error)) from error


class DeviceStore:
    """The file, opened by one process; it says so by a shared lock until it closes it."""

    def __init__(self, path: Path, shape: StoreShape) -> None:
        if not path.is_file() or path.stat().st_size != shape.nbytes:
            allowed = f"a file of {shape.nbytes:,} bytes"
            raise InputError("content", of=str(path), allowed=allowed, got="another")
        self.shape, self._path = shape, path
        self._file = os.fdopen(_opened(path, write=False), "rb")
        fcntl.flock(self._file, fcntl.LOCK_SH)
        dimensions = (shape.devices, 2, shape.slot)
        # Another file than the lock's: a map would keep that open.
        with os.fdopen(_opened(path, write=True), "r+b") as file:
            self._mapped = np.memmap(file, dtype=np.float32, mode="r+", shape=dimensions)
        self._slots: NDArray[np.float32] = np.asarray(self._mapped)
        self._fresh = np.zeros(shape.slot, dtype=np.float32)
        self._fresh[:HEADER].view(np.int64)[ACCEPTED] = -1

    def read(self, device: int, slot: int) -> DeviceRecord:
        """What a slot holds."""
        record = self._fresh if slot == FRESH else self._slots[device, slot]
        numbers = record[:HEADER].view(np.int64)
        uplink, moments = self._vectors(record)
        return DeviceRecord(
            accepted=int(numbers[ACCEPTED]),
            uplink=uplink,
            moments=OptimizerMoments(values=moments, steps=int(numbers[STEPS])),
        )

    def write(self, device: int, slot: int, what: DeviceRecord) -> None:
        """Write a device's record into one of its slots."""
        record = self._slots[device, slot]
        uplink, moments = self._vectors(record)
        for name, vector in uplink.items():
            vector[:] = what.uplink[name]
        if what.moments.steps:
            moments[:] = what.moments.values
        numbers = record[:HEADER].view(np.int64)
        numbers[ACCEPTED], numbers[STEPS] = what.accepted, what.moments.steps
        numbers[DIGEST] = self._digest(record)

    def digests(self, slots: Slots) -> Digests:
        """Of the slots that hold, as they were written; 0 for fresh devices."""
        numbers = self._slots[:, :, :HEADER].view(np.int64)
        named = numbers[np.arange(self.shape.devices), np.maximum(slots, 0), DIGEST]
        return np.where(slots == FRESH, 0, named)

    def seal(self, slots: Slots) -> None:
        """Note the digest of every slot that holds: older versions did not."""
        for device in np.flatnonzero(slots != FRESH).tolist():
            record = self._slots[device, int(slots[device])]
            record[:HEADER].view(np.int64)[DIGEST] = self._digest(record)

    def check(self, slots: Slots, digests: Digests) -> None:
        """Raise unless every slot that holds has its digest."""
        written = self.digests(slots)
        for device in np.flatnonzero(slots != FRESH).tolist():
            found = self._digest(self._slots[device, int(slots[device])])
            if not found == digests[device] == written[device]:
                allowed = "as at the checkpoint: begin anew (run --force), or put a copy back"
                what = f"state of device {device}"
                raise InputError(what, of=self._path.name, allowed=allowed, got="damaged")

    def close(self) -> None:
        """Give up the lock; what was read stays."""
        self._file.close()

    def flush(self) -> None:
        """Bring all to the disk."""
        try:
            disk.before("flush", self._path)
            self._mapped.flush()
        except OSError as error:
            raise DiskError(f"{self._path} could not be written: {error}") from error

    @staticmethod
    def _digest(record: Vector) -> int:
        """XXH3-64 of a slot but for the digest itself, as a signed number."""
        digest = xxhash.xxh3_64(record[: 2 * DIGEST].data)
        digest.update(record[2 * (DIGEST + 1) :].data)
        return int.from_bytes(digest.digest(), "big", signed=True)

    def _vectors(self, record: Vector) -> tuple[Arrays, Vector]:
        uplink: Arrays = {}
        at = HEADER
        for name, entries in self.shape.uplink.items():
            uplink[name] = record[at : at + entries]
            at += entries
        return uplink, record[at : at + self.shape.moments]
