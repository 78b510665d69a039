"""What the rules of schemes refuse does diverge or stall on digits, and what they ask for learns."""

import functools
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch

from lossyfl import Device, Server, quantizer
from lossyfl.compressors import Damped, Schedule
from lossyfl.errors import Diverged
from lossyfl.links import Downlink, ErrorFeedback, Link, Lossless, Tracked, WholeModel
from lossyfl.protocol.optimizers import PlainStep
from lossyfl.protocol.scheme import Scheme, ServerModel
from lossyfl.results.experiment import Experiment
from lossyfl.simulation.setup import Setup, prepare
from lossyfl.tasks.partitions import sizes
from lossyfl.tasks.training import OptimizerMoments, Trainer
from lossyfl.types import Shape


@functools.cache
def digits() -> Setup:
    return prepare(Experiment(task="digits", scheme="lossless", devices=5, rounds=40, lr="0.1"))


class Unchecked(Scheme):
    """A scheme that the rules have not seen."""

    __slots__ = ()

    def __post_init__(self) -> None:
        pass

    def check(self, tensors: Sequence[Shape], rounds: int | None = None) -> None:
        pass


EXACT = WholeModel(carrier=Lossless())


def unchecked(
    downlink: Downlink[Any], uplink: Link[Any], server_model: ServerModel = "preserved"
) -> Scheme:
    return Unchecked(
        name="unchecked",
        downlink=downlink,
        uplink=uplink,
        server_model=server_model,
        optimizer=PlainStep(),
    )


def accuracy(scheme: Scheme) -> float:
    """After 40 rounds, at the devices; 0 if the loss became no number."""
    setup = digits()
    server = Server(setup.theta, scheme, samples=sizes(setup.parts), tensors=setup.tensors)
    devices = [Device(m, scheme, tensors=setup.tensors) for m in range(setup.devices)]
    trainer = Trainer(setup.task, setup.parts, setup.local, seed=0)
    for t in range(setup.rounds):
        server.open_round()
        for m, device in enumerate(devices):
            device.receive(server.frames_for(m, device.held))
            try:
                trained = trainer.train(m, t, device.estimate.copy(), OptimizerMoments())
            except Diverged:
                return 0.0
            server.accept(m, device.reply(trained.theta.copy()))
        server.close_round()
    score = trainer.evaluate(0, server.estimate.copy())
    return score.scores[0] / score.samples


def plain(spec: str) -> Schedule:
    return Schedule.constant(quantizer(spec))


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """More only wait for each other on a model this small."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def test_exact_links_learn() -> None:
    assert accuracy(unchecked(EXACT, Lossless())) > 0.87


def test_one_level_on_one_range_preserved() -> None:
    coarse = plain("stochastic:levels=1")
    assert accuracy(unchecked(Tracked(compressor=coarse), Lossless())) < 0.5
    assert accuracy(unchecked(Tracked(compressor=Damped(inner=coarse)), Lossless())) > 0.75


@pytest.mark.parametrize("spec", ["topk:keep=0.01", "deadzone:target=0.1bit"])
def test_biased_on_the_estimate_falls_behind_preserved(spec: str) -> None:
    link = Tracked(compressor=plain(spec))
    kept, dropped = (
        accuracy(unchecked(link, Lossless(), "preserved")),
        accuracy(unchecked(link, Lossless(), "estimate")),
    )
    assert kept > 0.8
    assert dropped < kept - 0.2


def test_damped_or_biased_error_feedback_learns() -> None:
    damped = Damped(inner=plain("stochastic:levels=1"))
    assert accuracy(unchecked(EXACT, ErrorFeedback(compressor=damped))) > 0.75
    assert accuracy(unchecked(EXACT, ErrorFeedback(compressor=plain("deadzone")))) > 0.87
