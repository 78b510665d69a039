"""What rounds are compared with does the same work."""

import numpy as np

from benchmarks.rounds import CASES, BareLoop
from lossyfl.results.experiment import Experiment
from lossyfl.simulation.setup import prepare
from lossyfl.tasks.training import OptimizerMoments, Trainer


def test_the_bare_loop_takes_the_same_batches_and_steps() -> None:
    """One device, one round: what the bare loop has learned is what the device has."""
    setup = prepare(
        Experiment(task=CASES[1].task, devices=1, tau=3, batch=16, lr="0.01", partition="iid")
    )
    bare = BareLoop(setup)
    bare.play(0)
    trained = Trainer(setup.task, setup.parts, setup.local, seed=0).train(
        0, 0, setup.theta, OptimizerMoments()
    )
    np.testing.assert_allclose(bare.vector(), trained.theta, rtol=0, atol=1e-6)
