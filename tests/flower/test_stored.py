"""A training that version 0.1.0 has begun goes on: no node is sent the model anew."""

import shutil
from pathlib import Path

import numpy as np
from flwr.app import Array, ArrayRecord
from flwr.serverapp.strategy import FedAdam
from tests.adapters.test_stored import SPEC, STORED, TRAINING
from tests.flower.app import make_app, start
from tests.flower.grid import LocalGrid

from lossyfl.adapters.arrays import to_array
from lossyfl.adapters.layout import Slot
from lossyfl.flower import LossyStrategy, lossy_mod
from lossyfl.flower.records import to_record


def initial() -> ArrayRecord:
    """The model that it was begun with."""

    def brain(*shape: int) -> ArrayRecord:
        values = np.linspace(0, 1, int(np.prod(shape)), dtype=np.float32)
        return to_record({"it": to_array(values, Slot(name="", dtype="bfloat16", shape=shape))})

    return ArrayRecord(
        {
            **start(),
            "bn.running_var": Array(np.ones(3, np.float32)),
            "n": Array(np.asarray(5)),
            "brain": brain(2, 4)["it"],
            "bb.running_mean": brain(3)["it"],
        }
    )


def test_a_training_goes_on_after_its_checkpoint(tmp_path: Path) -> None:
    shutil.copytree(STORED / "devices", tmp_path / "devices" / TRAINING)
    shutil.copy(STORED / "checkpoint", tmp_path / "checkpoint")
    inner = FedAdam(fraction_evaluate=0.0, eta=0.01, tau=1e-3)
    lossy = LossyStrategy(inner, SPEC, seed=3, save_to=tmp_path / "checkpoint")
    grid = LocalGrid(make_app(lossy_mod), 3, tmp_path / "devices")
    lossy.start(grid, initial(), num_rounds=3)
    (record,) = lossy.rounds
    assert (record.round, record.replies, record.down.initial) == (2, 3, 0)
