"""The benchmark of the simulator measures what it says."""

import json
from pathlib import Path

import numpy as np
from tests.test_cli import run

from lossyfl.bench.simulation import CASES, BareLoop
from lossyfl.simulation.experiment import Experiment
from lossyfl.simulation.setup import prepare
from lossyfl.tasks.training import Moments, Trainer


def test_quick(tmp_path: Path) -> None:
    said = run("bench", "simulation", "--quick", "--json", tmp_path / "a.json")
    assert "as a multiple of a bare loop" in said
    results = json.loads((tmp_path / "a.json").read_text())
    assert results["rounds"][0]["one"] > 0
    assert {row["devices"] for row in results["devices"]} == {10, 100}
    shares = results["phases"][0]
    assert 0.9 < shares["training"] + shares["codec"] + shares["rest"] < 1.1


def test_the_bare_loop_takes_the_same_batches_and_steps() -> None:
    """One device, one round: what the bare loop has learned is what the device has."""
    setup = prepare(
        Experiment(task=CASES[1].task, devices=1, tau=3, batch=16, lr="0.01", partition="iid")
    )
    bare = BareLoop(setup)
    bare.play(0)
    trained = Trainer(setup.task, setup.parts, setup.local, seed=0).train(
        0, 0, setup.theta, Moments()
    )
    np.testing.assert_allclose(bare.vector(), trained.theta, rtol=0, atol=1e-6)
