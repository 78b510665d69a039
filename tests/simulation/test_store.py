"""What devices remember, slot by slot."""

import dataclasses
import os
import threading
from pathlib import Path

import numpy as np
import pytest

from lossyfl import InputError
from lossyfl.simulation.store import (
    FRESH,
    DeviceRecord,
    DeviceStore,
    StoreShape,
    create,
    wait_until_alone,
)
from lossyfl.tasks.training import OptimizerMoments

SHAPE = StoreShape(devices=3, uplink={"memory": 5}, moments=4)


def remembered(value: float, accepted: int = 7) -> DeviceRecord:
    return DeviceRecord(
        accepted=accepted,
        uplink={"memory": np.full(5, value, np.float32)},
        moments=OptimizerMoments(values=np.full(4, -value, np.float32), steps=9),
    )


def opened(folder: Path, shape: StoreShape = SHAPE) -> DeviceStore:
    create(folder / "devices.bin", shape)
    return DeviceStore(folder / "devices.bin", shape)


def test_slots_are_apart_and_survive_the_process(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.write(1, 0, remembered(1.0))
    store.write(1, 1, remembered(2.0, accepted=8))
    store.write(2, 0, remembered(3.0))
    store.flush()
    store.close()
    again = DeviceStore(tmp_path / "devices.bin", SHAPE)
    for device, slot, value, accepted in ((1, 0, 1.0, 7), (1, 1, 2.0, 8), (2, 0, 3.0, 7)):
        found = again.read(device, slot)
        assert found.accepted == accepted
        assert found.moments.steps == 9
        assert np.all(found.uplink["memory"] == value)
        assert np.all(found.moments.values == -value)
    again.close()


def test_a_fresh_device_remembers_nothing(tmp_path: Path) -> None:
    store = opened(tmp_path)
    found = store.read(2, FRESH)
    store.close()
    assert found.accepted == -1
    assert found.moments.steps == 0
    assert np.array_equal(found.uplink["memory"], np.zeros(5))


def test_room_is_taken_at_once(tmp_path: Path) -> None:
    shape = StoreShape(devices=100, uplink={"memory": 1000}, moments=0)
    create(tmp_path / "devices.bin", shape)
    facts = (tmp_path / "devices.bin").stat()
    assert facts.st_size == shape.nbytes
    assert 512 * facts.st_blocks >= shape.nbytes


def test_another_file_is_refused(tmp_path: Path) -> None:
    create(tmp_path / "devices.bin", SHAPE)
    with pytest.raises(InputError, match="must be a file of"):
        DeviceStore(tmp_path / "devices.bin", dataclasses.replace(SHAPE, devices=4))
    with pytest.raises(InputError, match="must be a file of"):
        DeviceStore(tmp_path / "none.bin", SHAPE)


def test_one_waits_until_nobody_has_it_open(tmp_path: Path) -> None:
    store = opened(tmp_path)
    waiting = threading.Thread(target=wait_until_alone, args=(tmp_path / "devices.bin",))
    waiting.start()
    waiting.join(timeout=0.2)
    assert waiting.is_alive()
    store.close()
    waiting.join(timeout=30)
    assert not waiting.is_alive()


def test_every_byte_of_a_slot_that_holds_counts_and_of_no_other(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.write(0, 1, remembered(1.0))
    store.write(2, 0, remembered(2.0))
    slots = np.array([1, FRESH, 0], np.int8)
    digests = store.digests(slots)
    store.flush()
    store.check(slots, digests)
    content = np.memmap(tmp_path / "devices.bin", np.uint8, "r+")
    held = range(4 * 32, 4 * 32 * 2)  # of device 0, slot 1
    for at in range(4 * 32 * 2):
        content[at] ^= 16
        if at in held:
            with pytest.raises(InputError, match=r"state of device 0 of devices\.bin.*damaged"):
                store.check(slots, digests)
        else:
            store.check(slots, digests)
        content[at] ^= 16
    store.close()


def test_a_slot_of_an_earlier_round_is_not_taken_for_a_later_one(tmp_path: Path) -> None:
    store = opened(tmp_path)
    slots = np.array([0, FRESH, FRESH], np.int8)
    store.write(0, 0, remembered(1.0))
    before = (tmp_path / "devices.bin").read_bytes()
    store.write(0, 0, remembered(2.0))
    digests = store.digests(slots)
    store.close()
    (tmp_path / "devices.bin").write_bytes(before)
    again = DeviceStore(tmp_path / "devices.bin", SHAPE)
    with pytest.raises(InputError, match="damaged"):
        again.check(slots, digests)
    again.close()


def test_nobody_else_can_read_it_and_links_are_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "devices.bin"
    (tmp_path / "victim").write_text("kept")
    path.symlink_to(tmp_path / "victim")
    mask = os.umask(0)
    try:
        create(path, SHAPE)
    finally:
        os.umask(mask)
    assert (tmp_path / "victim").read_text() == "kept"
    assert path.stat().st_mode & 0o777 == 0o600
    path.rename(tmp_path / "moved")
    path.symlink_to(tmp_path / "moved")
    with pytest.raises(InputError, match="no link"):
        DeviceStore(path, SHAPE)
    with pytest.raises(InputError, match="no link"):
        wait_until_alone(path)
