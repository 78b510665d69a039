"""What a run goes on from: the server's state, which slots of the store hold, and how far files reached."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lossyfl.errors import InputError
from lossyfl.files import snapshot
from lossyfl.simulation.results import Sizes
from lossyfl.simulation.store import FRESH, Slots
from lossyfl.states import ServerState
from lossyfl.types import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """Everything that is not in the store.

    slots:        of every device, a byte each
    common:       moments that all devices share or hand on, with the steps taken
    data_dir:     where the data was looked for, empty for the usual places
    average:      of the models that devices held; empty if nobody looks at it
    save_updates: rounds whose vectors are kept
    """

    server: ServerState
    slots: bytes
    common: Vector
    common_steps: int
    sizes: Sizes
    data_dir: str
    average: Vector
    save_updates: tuple[int, ...]


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
    snapshot.save(path(folder), checkpoint)


def load(folder: Path) -> Checkpoint:
    """The checkpoint of a run."""
    if not path(folder).is_file():
        allowed = "that of a run that has begun, with a checkpoint"
        raise InputError("folder", of="resume", allowed=allowed, got=str(folder.parent))
    return snapshot.load(path(folder), Checkpoint)
