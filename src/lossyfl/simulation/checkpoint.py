"""What a run goes on from: the server's state, which slots of the store hold, and how far files reached."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lossyfl.errors import InputError
from lossyfl.files import snapshot
from lossyfl.files.atomic import STATE
from lossyfl.protocol.states import ServerState
from lossyfl.results.directory import Sizes
from lossyfl.results.experiment import KEYS, Experiment, experiment, parse_toml
from lossyfl.simulation.store import FRESH, DeviceStore, Slots
from lossyfl.types import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Everything that is not in the store.

    slots:        one byte per device
    common:       moments that all devices share or hand on, with the steps taken
    data_dir:     where the data was found, empty for the usual places
    average:      of the models that devices held; empty if it is not evaluated
    save_updates: rounds whose vectors are kept
    digests:      of the slots, 8 bytes each; none in checkpoints of older versions, which are not checked
    settings:     as in config.toml; empty in checkpoints of older versions, which take any
    """

    server: ServerState
    slots: bytes
    common: Vector
    common_steps: int
    sizes: Sizes
    data_dir: str
    average: Vector
    save_updates: tuple[int, ...]
    digests: bytes = b""
    settings: str = ""

    def check_settings(self, now: Experiment) -> None:
        """Raise if a run would go on with other settings than it began with; rounds may be added."""
        if not self.settings:
            return
        then = experiment(parse_toml(self.settings, of="the checkpoint"))
        for name in KEYS:
            was, is_now = getattr(then, name), getattr(now, name)
            if name != "rounds" and was != is_now:
                allowed = f"{was}, as when the run began (put it back, or begin anew: lossyfl run)"
                raise InputError(name, of="config.toml", allowed=allowed, got=is_now)

    def check_sizes(self, entries: int, common: int) -> None:
        """Raise unless every vector is as long as the run's, of a model of so many entries."""
        server = self.server
        for name, found, allowed in (
            ("theta", len(server.theta), (entries,)),
            ("estimate", len(server.estimate), (entries,)),
            ("average", len(self.average), (0, entries)),
            ("common", len(self.common), (common,)),
            ("round", server.round, range(-1, 1 << 32)),
            ("sizes", min(self.sizes.rounds, self.sizes.ledger), range(1 << 63)),
        ):
            if found not in allowed:
                raise InputError(name, of="the checkpoint", allowed="as the run's", got=found)

    def check_store(self, store: DeviceStore) -> None:
        """Raise unless the store holds what it held when the checkpoint was made.

        What an older version left without digests is taken, and has them from now on.
        """
        slots = np.frombuffer(self.slots, dtype=np.int8)
        devices, allowed = store.shape.devices, "as the run's"
        if len(slots) != devices or not np.isin(slots, (FRESH, 0, 1)).all():
            raise InputError("slots", of="the checkpoint", allowed=allowed, got="others")
        if not self.digests:
            store.seal(slots)
            return
        if len(self.digests) != 8 * devices:
            raise InputError("digests", of="the checkpoint", allowed=allowed, got="others")
        store.check(slots, np.frombuffer(self.digests, dtype="<i8").astype(np.int64))


def fresh(devices: int) -> Slots:
    """The slots of devices that have not trained yet."""
    return np.full(devices, FRESH, dtype=np.int8)


def path(folder: Path) -> Path:
    """The checkpoint's file."""
    return folder / "state.safetensors"


def store_path(folder: Path) -> Path:
    """The store's file."""
    return folder / "devices.bin"


def save(folder: Path, checkpoint: Checkpoint) -> None:
    """Replace the checkpoint, all or nothing."""
    snapshot.save(path(folder), checkpoint, mode=STATE)


def load(folder: Path) -> Checkpoint:
    """The checkpoint of a run."""
    if not path(folder).is_file():
        allowed = (
            "that of a run that has begun, with a checkpoint (without one, begin: lossyfl run)"
        )
        raise InputError("folder", of="resume", allowed=allowed, got=str(folder.parent))
    return snapshot.load(path(folder), Checkpoint)
