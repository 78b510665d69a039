"""What devices and a strategy keep on a disk, disturbed at every operation: the old or the new, whole."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.crash.points import POWER, PROCESS, Scenario, Way, disturb_everywhere

import lossyfl
from lossyfl.adapters.saved import Saved
from lossyfl.adapters.store import Store as FlowerStore
from lossyfl.files.atomic import is_temporary
from lossyfl.protocol.states import DeviceState
from lossyfl.simulation.store import FRESH, DeviceRecord, DeviceStore, StoreShape, create
from lossyfl.tasks.training import OptimizerMoments
from lossyfl.types import Vector

if TYPE_CHECKING:
    from lossyfl.adapters.remembered import Remembered as Kept

SCHEME, TRAINING = "lfl", "0123456789abcdef"
LAYOUT = '[["w", "float32", [500]]]'
SHAPE = StoreShape(devices=3, uplink={"memory": 500}, moments=200)


def floats(value: float, size: int = 500) -> Vector:
    return np.full(size, value, np.float32)


def no_leftovers(folder: Path) -> None:
    assert not [path for path in folder.rglob("*") if is_temporary(path.name)]


class FlowerDevice:
    """A node that had a state saves two more, and one that is new its first ones."""

    def prepare(self, folder: Path) -> None:
        self._save(folder, 0, 1.0)

    def act(self, folder: Path) -> None:
        for value in (2.0, 3.0):
            for number in (0, 1):
                self._save(folder, number, value)

    def recover(self, folder: Path) -> None:
        for number, allowed in ((0, (1.0, 2.0, 3.0)), (1, (None, 2.0, 3.0))):
            assert self._load(folder, number) in allowed
            self._save(folder, number, 4.0)
            assert self._load(folder, number) == 4.0
        no_leftovers(folder)

    @staticmethod
    def _save(folder: Path, number: int, value: float) -> None:
        store = FlowerStore(folder, TRAINING, number)
        with store.locked():
            device = DeviceState(uplink={"memory": floats(value)}, reply=b"reply")
            store.save(replace(store.load(SCHEME), scheme=SCHEME, device=device))

    @staticmethod
    def _load(folder: Path, number: int) -> float | None:
        store = FlowerStore(folder, TRAINING, number)
        with store.locked():
            found: Kept = store.load(SCHEME)
            memory = found.device.uplink.get("memory")
            if memory is None:
                return None
            assert np.array_equal(memory, floats(memory[0]))
            assert found.device.reply == b"reply"
            return float(memory[0])


class FlowerServer:
    """A strategy that saves its state round after round."""

    def prepare(self, folder: Path) -> None:
        self._save(folder, 1)

    def act(self, folder: Path) -> None:
        self._save(folder, 2)
        self._save(folder, 3)

    def recover(self, folder: Path) -> None:
        saved, _ = Saved.read(folder / "state")
        assert np.array_equal(saved.server.theta, floats(saved.rounds))
        assert saved.rounds in (1, 2, 3)
        self._save(folder, 4)
        assert Saved.read(folder / "state")[0].rounds == 4
        no_leftovers(folder)

    @staticmethod
    def _save(folder: Path, rounds: int) -> None:
        server = lossyfl.Server(floats(rounds), lossyfl.scheme(SCHEME), samples={0: 1}, seed=0)
        state = server.state()
        Saved(
            rounds=rounds, training=TRAINING, scheme=SCHEME, layout=LAYOUT, server=state, nodes=(), inner=()
        ).write(folder / "state", {})  # fmt: skip


class SimulatedDevices:
    """The file of a simulation's devices: a slot that holds stays while the other one is written."""

    def prepare(self, folder: Path) -> None:
        self._open(folder, lambda store: store.write(0, 0, self._of(1.0)), new=True)

    def act(self, folder: Path) -> None:
        def work(store: DeviceStore) -> None:
            store.write(0, 1, self._of(2.0))
            store.flush()
            store.write(0, 1, self._of(3.0))
            store.flush()

        self._open(folder, work)
        create(folder / "new.bin", SHAPE)

    def recover(self, folder: Path) -> None:
        def look(store: DeviceStore) -> None:
            slots = np.array([0, FRESH, FRESH], np.int8)
            store.check(slots, store.digests(slots))
            assert np.array_equal(store.read(0, 0).uplink["memory"], floats(1.0))

        self._open(folder, look)
        create(folder / "new.bin", SHAPE)
        DeviceStore(folder / "new.bin", SHAPE).close()

    @staticmethod
    def _of(value: float) -> DeviceRecord:
        moments = OptimizerMoments(values=floats(-value, 200), steps=1)
        return DeviceRecord(accepted=1, uplink={"memory": floats(value)}, moments=moments)

    @staticmethod
    def _open(folder: Path, work: Callable[[DeviceStore], None], *, new: bool = False) -> None:
        path = folder / "devices.bin"
        if new:
            create(path, SHAPE)
        store = DeviceStore(path, SHAPE)
        work(store)
        store.close()


@pytest.mark.parametrize(
    ("scenario", "ways"),
    [
        (FlowerDevice(), PROCESS),  # a power cut may cost it its state: it begins anew
        (FlowerServer(), PROCESS + POWER),
        (SimulatedDevices(), PROCESS),
    ],
    ids=["flower-device", "flower-server", "simulation"],
)
def test_the_old_or_the_new_after_every_crash_point(
    scenario: Scenario,
    ways: tuple[Way, ...],
    tmp_path: Path,
    record_property: Callable[[str, object], None],
) -> None:
    record_property("counts", disturb_everywhere(tmp_path, scenario, sample=6, ways=ways))
