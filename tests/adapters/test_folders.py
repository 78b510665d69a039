"""A server cannot fill a node's disk, and nothing that is not a device's state is ever removed."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from lossyfl.adapters.folders import (
    MOST_TRAININGS,
    make_room,
    remove,
    remove_training,
    state_folders,
)
from lossyfl.adapters.remembered import Remembered
from lossyfl.adapters.store import Store
from lossyfl.errors import InputError
from lossyfl.protocol.states import DeviceState

ENTRIES = 1000


def remembered(entries: int = ENTRIES) -> Remembered:
    layout = f'[["w", "float32", [{entries}]]]'
    device = DeviceState(round=0, estimate=np.ones(entries, np.float32))
    return Remembered(scheme="lfl", layout=layout, device=device)


def keep(root: Path, training: int, number: int = 0, *, quota: int = 10**9) -> Store:
    """What a device keeps of a training; the higher its number, the later."""
    store = Store(root, f"{training:016x}", number, quota=quota)
    with store.locked():
        store.save(remembered())
        store.save(remembered())
    for path in store.folder.iterdir():
        os.utime(path, (0, int(time.time()) - 1000 + training))
    return store


def trainings(root: Path, number: int = 0) -> list[int]:
    return [int(own.training, 16) for own in state_folders(root, number)]


class TestMakeRoom:
    def test_a_device_keeps_the_newest_trainings(self, tmp_path: Path) -> None:
        for training in range(MOST_TRAININGS + 3):
            keep(tmp_path, training)
        assert trainings(tmp_path) == list(range(3, MOST_TRAININGS + 3))

    def test_a_device_keeps_no_more_bytes_than_it_may(self, tmp_path: Path) -> None:
        """A state is 4 kB twice, and some facts; the quota is that of three."""
        for training in range(9):
            keep(tmp_path, training, quota=32_000)
            assert sum(own.nbytes for own in state_folders(tmp_path)) <= 32_000
        assert trainings(tmp_path) == [6, 7, 8]

    def test_other_devices_keep_theirs(self, tmp_path: Path) -> None:
        keep(tmp_path, 1, number=7)
        for training in range(4):
            keep(tmp_path, training, quota=10_000)
        assert trainings(tmp_path) == [3]
        assert trainings(tmp_path, 7) == [1]

    def test_more_than_all_that_it_may_keep(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=r"at most 5,000 bytes \(its quota\)"):
            keep(tmp_path, 1, quota=5_000)

    def test_what_is_in_use_stays(self, tmp_path: Path) -> None:
        old = keep(tmp_path, 1)
        with old.locked(), pytest.raises(InputError, match="at most 9,000 bytes"):
            make_room(tmp_path, tmp_path / f"{2:016x}" / "0", 8_000, 9_000)
        assert trainings(tmp_path) == [1]
        make_room(tmp_path, tmp_path / f"{2:016x}" / "0", 8_000, 9_000)
        assert trainings(tmp_path) == []


class TestStateFolders:
    def test_are_ours_only(self, tmp_path: Path) -> None:
        keep(tmp_path, 1)
        (tmp_path / "photos/0").mkdir(parents=True)
        (tmp_path / "photos/0/.lock").touch()
        (tmp_path / ("a" * 16) / "0").mkdir(parents=True)  # no lock: nobody's
        (tmp_path / ("b" * 16)).symlink_to(tmp_path / f"{1:016x}")
        (tmp_path / f"{1:016x}" / "1").symlink_to(tmp_path / f"{1:016x}" / "0")
        (own,) = state_folders(tmp_path)
        assert (own.training, own.device) == (f"{1:016x}", 0)
        assert own.nbytes > 2 * 4 * ENTRIES
        assert state_folders(tmp_path / "none") == []

    def test_are_removed_with_their_training(self, tmp_path: Path) -> None:
        for number in range(3):
            keep(tmp_path, 1, number)
        keep(tmp_path, 2)
        assert remove_training(tmp_path, f"{1:016x}") > 3 * 2 * 4 * ENTRIES
        assert [path.name for path in tmp_path.iterdir()] == [f"{2:016x}"]

    def test_in_use_are_not_removed(self, tmp_path: Path) -> None:
        store = keep(tmp_path, 1)
        (own,) = state_folders(tmp_path)
        with store.locked():
            assert not remove(own)
        assert remove(own)
