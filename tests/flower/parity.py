"""The same training in our simulator, to compare theta and frames of another engine with."""

import os
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from benchmarks.flower_app import built, settings
from lossyfl.results import ledger_file
from lossyfl.simulation.run import run
from lossyfl.types import Vector

CONFIG = {
    "task": "digits",
    "scheme": "lfl:q1=2,q2=2",
    "rounds": 3,
    "tau": 4,
    "batch": 16,
    "optimizer": "sgd",
    "lr": "0.2",
    "partition": "iid",
    "seed": 3,
}


DEEP = pytest.mark.skipif(os.environ.get("HYPOTHESIS_PROFILE") != "deep", reason="make test-deep")


ROOT = Path(__file__).parents[2]


Frames = list[tuple[int, str, int, int]]


def frames(folder: Path) -> Frames:
    """All frames; a reply names its training, so that its checksum is another in each: its length is not."""
    entries = ledger_file.read(folder / "ledger.csv").entries
    return sorted(
        (e.round, e.direction, e.device, e.frame if e.direction == "down" else e.nbytes)
        for e in entries
    )


def simulated(folder: Path, devices: int) -> tuple[Vector, Frames]:
    """Theta and frames of our simulator."""
    asked = settings({**CONFIG, "devices": devices})
    run(asked, folder)
    tensors, (setup, _) = load_file(folder / "model.safetensors"), built(asked)
    theta = np.concatenate([tensors[place.name].ravel() for place in setup.places])
    return theta, frames(folder)
