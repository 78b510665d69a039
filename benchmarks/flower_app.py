"""A Flower app that trains one of lossyfl's tasks, in the simulation engine or a deployment.

An app as any other; the run config has the names of `lossyfl run`'s settings, and nodes get them with
every message. With the scheme `plain` it is Flower's FedAvg as it comes: then the client is `plain_client`,
without the mod.
"""

import json
import time
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from resource import RUSAGE_SELF, getrusage
from typing import cast

import numpy as np
import torch
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.app.user_config import UserConfig
from flwr.clientapp import ClientApp
from flwr.serverapp import Grid, ServerApp
from flwr.serverapp.strategy import FedAvg, Strategy

from benchmarks.flower import PLAIN
from lossyfl.errors import Stopped
from lossyfl.files import disk
from lossyfl.flower.mod import lossy_mod, named_by_server
from lossyfl.flower.strategy import LossyStrategy
from lossyfl.results.experiment import KEYS, Experiment, experiment
from lossyfl.simulation.setup import Setup, prepare
from lossyfl.tasks.flat import Place
from lossyfl.tasks.training import OptimizerMoments, Score, Trainer, chunks
from lossyfl.types import Vector

server_app = ServerApp()
lossy_client = ClientApp(mods=[lossy_mod])
plain_client = ClientApp()


@server_app.main()
def main(grid: Grid, context: Context) -> None:
    """Train as the run config says."""
    play(grid, context.run_config)


def play(grid: Grid, config: UserConfig) -> None:
    """Train, and write down the evaluation of every round, and of the initial model.

    trained, time: when the round was over, and when its model had been evaluated
    replies:       how many devices the model was made of
    """
    asked, out = settings(config), Path(str(config["out"]))
    setup, trainer = built(asked)
    came: list[int] = []

    def evaluated(number: int, arrays: ArrayRecord) -> MetricRecord:
        trained = time.time()
        accuracy = evaluate(trainer, joined(arrays, setup.places))
        line = {
            "round": number,
            "accuracy": accuracy,
            "replies": sum(came),
            "trained": trained,
            "time": time.time(),
            "peak_bytes": 1024 * getrusage(RUSAGE_SELF).ru_maxrss,
        }
        came.clear()
        disk.append(out / "progress.jsonl", json.dumps(line) + "\n")
        return MetricRecord({"accuracy": accuracy})

    result = strategy(config, setup.devices, out, came.append).start(
        grid,
        split(setup.theta, setup.places),
        num_rounds=setup.rounds,
        timeout=float(config.get("timeout", 3600.0)),
        train_config=ConfigRecord({key: config[key] for key in KEYS if key in config}),
        evaluate_fn=evaluated,
    )
    if not len(result.arrays):
        raise Stopped("no device replied in any round")
    np.save(out / "theta.npy", joined(result.arrays, setup.places))


def strategy(
    config: UserConfig, devices: int, out: Path, count: Callable[[int], object]
) -> Strategy:
    """FedAvg, wrapped unless it is to be plain; `count` is told how many replies a round had."""
    fraction = float(config.get("participation", 1.0))
    inner = FedAvg(
        fraction_train=fraction,
        fraction_evaluate=0.0,
        min_train_nodes=max(1, int(fraction * devices)),
        min_available_nodes=devices,
    )
    aggregate = inner.train_metrics_aggr_fn

    def counted(replies: list[RecordDict], key: str) -> MetricRecord:
        count(len(replies))
        return aggregate(replies, key)

    inner.train_metrics_aggr_fn = counted
    if config["scheme"] == PLAIN:
        return inner
    return LossyStrategy(
        inner,
        str(config["scheme"]),
        seed=int(config.get("seed", 0)),
        results=out / "results",
        save_to=out / "saved" if config.get("save") else None,
    )


@lossy_client.train()
@plain_client.train()
def train(message: Message, context: Context) -> Message:
    """Tau steps on the samples of this node."""
    config = message.content.config_records["config"]
    with named_by_server(context):
        setup, trainer = built(settings(config))
    device = int(context.node_config["partition-id"])
    theta = joined(message.content.array_records["arrays"], setup.places)
    number = cast("int", config["server-round"]) - 1  # Flower counts rounds from 1
    outcome = trainer.train(device, number, theta, OptimizerMoments())
    metrics = {"num-examples": len(setup.parts[device]), "train-loss": outcome.loss}
    content = RecordDict(
        {"arrays": split(outcome.theta, setup.places), "metrics": MetricRecord({**metrics})}
    )
    return Message(content, reply_to=message)


def settings(config: Mapping[str, object]) -> Experiment:
    """The experiment of a run config, or of a message."""
    named = {key: config[key] for key in KEYS if key in config}
    if named.get("scheme") == PLAIN:
        named["scheme"] = "lossless"
    return experiment(named)


@cache
def built(asked: Experiment) -> tuple[Setup, Trainer]:
    """Data and model of this process."""
    torch.set_num_threads(1)
    setup = prepare(asked)
    return setup, Trainer(setup.task, setup.parts, setup.local, seed=setup.experiment.seed)


def evaluate(trainer: Trainer, theta: Vector) -> float:
    """The accuracy of a model."""
    total = Score(samples=0, loss=0.0, scores=(0.0,))
    for chunk in range(chunks(trainer.task)):
        total += trainer.evaluate(chunk, theta)
    return total.scores[0] / total.samples


def split(theta: Vector, places: tuple[Place, ...]) -> ArrayRecord:
    """The vector as the model's tensors."""
    tensors = {p.name: theta[p.start : p.stop].reshape(p.shape) for p in places}
    return ArrayRecord({name: Array(tensor) for name, tensor in tensors.items()})


def joined(arrays: ArrayRecord, places: tuple[Place, ...]) -> Vector:
    """The model's tensors as one vector."""
    return np.concatenate([arrays[place.name].numpy().ravel() for place in places])
