"""Flower's simulation engine with our local training, timed; `lossyfl.bench.flower` runs it.

An ordinary Flower app: plain FedAvg, a model that travels as its tensors, and a client that builds data
and model once in a Ray actor. Model, partition and local steps are those of a run of ours, and nobody
evaluates. One line on stdout is the result.
"""
# Flower's imports stand in functions: its packages may lie in a folder that only the command line names.

import argparse
import json
import logging
import os
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import TYPE_CHECKING, cast

import numpy as np
import torch

from lossyfl.bench.flower import MARK, Report, Work
from lossyfl.simulation.experiment import Experiment
from lossyfl.simulation.setup import Setup, prepare
from lossyfl.tasks.training import Moments, Trainer

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from flwr.app import ArrayRecord, ConfigRecord, Context, Message, MetricRecord
    from flwr.clientapp import ClientApp
    from flwr.serverapp import Grid, ServerApp
    from flwr.serverapp.strategy import FedAvg

    from lossyfl.tasks.flat import Place
    from lossyfl.types import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """The times at which every round began and ended, since the epoch as `--started` is."""

    began: list[float] = field(default_factory=list[float])
    ended: list[float] = field(default_factory=list[float])

    def report(self, started: float) -> Report:
        """What is told of them."""
        first, *later = (end - begin for begin, end in zip(self.began, self.ended, strict=True))
        return Report(launch=self.began[0] - started, first=first, later=tuple(later))


def main(arguments: "Sequence[str] | None" = None) -> None:
    """Run the rounds and print the line."""
    asked = _parser().parse_args(arguments)
    if asked.packages:
        # Behind our own packages, so that ours win; Flower hands our path on to Ray's processes.
        sys.path.append(asked.packages)
    work = Work(task=asked.task, devices=asked.devices, tau=asked.tau, batch=asked.batch)
    clock = Clock()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        # Flower and Ray read these when they are imported.
        os.environ["FLWR_HOME"] = home
        os.environ["FLWR_TELEMETRY_ENABLED"] = "0"
        os.environ["FLWR_DISABLE_UPDATE_CHECK"] = "1"
        os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
        simulate(work, asked.rounds, asked.cpus, clock)
    sys.stdout.write(MARK + json.dumps(asdict(clock.report(asked.started))) + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", required=True)
    for name in ("--devices", "--tau", "--batch", "--rounds", "--cpus"):
        parser.add_argument(name, type=int, required=True)
    parser.add_argument("--started", type=float, required=True, help="time.time() at the launch")
    parser.add_argument("--packages", help="folder with flwr and ray, if not installed")
    return parser


def simulate(work: Work, rounds: int, cpus: int, clock: Clock) -> None:
    """Run Flower's engine with an actor a CPU."""
    from flwr.simulation import run_simulation

    logging.getLogger("flwr").setLevel(logging.ERROR)
    run_simulation(
        server_app=server_app(work, rounds, clock),
        client_app=client_app(),
        num_supernodes=work.devices,
        backend_config={
            "client_resources": {"num_cpus": 1, "num_gpus": 0.0},
            "init_args": {"address": "local", "num_cpus": cpus, "log_to_driver": False},
        },
    )


def server_app(work: Work, rounds: int, clock: Clock) -> "ServerApp":
    """A server that runs FedAvg from the model a run of ours starts from."""
    from flwr.app import ConfigRecord
    from flwr.serverapp import ServerApp

    app = ServerApp()
    setup = set_up(work)

    @app.main()
    def run(grid: "Grid", context: "Context") -> None:  # noqa: ARG001 - Flower's signature
        strategy(work.devices, clock).start(
            grid=grid,
            initial_arrays=split(setup.theta, setup.places),
            num_rounds=rounds,
            train_config=ConfigRecord(asdict(work)),
        )

    return app


def strategy(devices: int, clock: Clock) -> "FedAvg":
    """FedAvg over all devices that notes when a round begins and ends; a lost device is an error."""
    from flwr.serverapp.strategy import FedAvg

    class Timed(FedAvg):
        def configure_train(
            self, server_round: int, arrays: "ArrayRecord", config: "ConfigRecord", grid: "Grid"
        ) -> "Iterable[Message]":
            clock.began.append(time.time())
            return super().configure_train(server_round, arrays, config, grid)

        def aggregate_train(
            self, server_round: int, replies: "Iterable[Message]"
        ) -> "tuple[ArrayRecord | None, MetricRecord | None]":
            came = list(replies)
            check(came, devices)
            result = super().aggregate_train(server_round, came)
            clock.ended.append(time.time())
            return result

    return Timed(fraction_evaluate=0.0, min_train_nodes=devices, min_available_nodes=devices)


def check(replies: "list[Message]", devices: int) -> None:
    """Raise unless every device has trained: rounds without some would look fast."""
    for reply in replies:
        if reply.has_error():
            reason = reply.error.reason or "no reason given"
            raise RuntimeError(f"a device failed: {reason.strip().splitlines()[-1]}")
    if len(replies) != devices:
        raise RuntimeError(f"{len(replies)} of {devices} devices replied")


def client_app() -> "ClientApp":
    """A client that trains."""
    from flwr.clientapp import ClientApp

    app = ClientApp()
    app.train()(train)
    return app


def train(message: "Message", context: "Context") -> "Message":
    """The reply of a device: its model after tau steps, and the weight of it."""
    from flwr.app import Message, MetricRecord, RecordDict

    config = message.content.config_records["config"]
    arrays = message.content.array_records["arrays"]
    devices, tau, batch, count = (
        cast("int", config[name]) for name in ("devices", "tau", "batch", "server-round")
    )
    work = Work(task=str(config["task"]), devices=devices, tau=tau, batch=batch)
    trainer = build(work)
    places, device = trainer.model.places, int(context.node_config["partition-id"])
    theta = np.concatenate([arrays[place.name].numpy().ravel() for place in places])
    # Our rounds count from 0, Flower's from 1.
    outcome = trainer.train(device, count - 1, theta, Moments())
    metrics = MetricRecord({"num-examples": len(trainer.parts[device]), "loss": outcome.loss})
    content = RecordDict({"arrays": split(outcome.theta, places), "metrics": metrics})
    return Message(content, reply_to=message)


@cache
def build(work: Work) -> Trainer:
    """Data and model of this process; a Ray actor keeps them for all its devices and rounds."""
    torch.set_num_threads(1)
    setup = set_up(work)
    return Trainer(setup.task, setup.parts, setup.local, seed=setup.experiment.seed)


def set_up(work: Work) -> Setup:
    """The run of ours with this work."""
    asked = Experiment(
        task=work.task,
        devices=work.devices,
        tau=work.tau,
        batch=work.batch,
        partition="iid",
    )
    return prepare(asked)


def split(theta: "Vector", places: "tuple[Place, ...]") -> "ArrayRecord":
    """A copy of the vector as the model's tensors."""
    from flwr.app import Array, ArrayRecord

    tensors = {p.name: theta[p.start : p.stop].reshape(p.shape) for p in places}
    return ArrayRecord({name: Array(tensor) for name, tensor in tensors.items()})


if __name__ == "__main__":
    # By its name: Ray would copy what lies in __main__ with every message, and `build` forget.
    from lossyfl.bench import flower_peer

    flower_peer.main()
