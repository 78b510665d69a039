"""A whole round on Flower with one node that lies: its reply is the honest one with other fields.

An input is JSON: records by name, and the fields that are set in them; null takes a field away.
"""

import json
from collections.abc import Sequence
from functools import cache

import numpy as np
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp.strategy import FedAdam, FedAvg, Strategy
from tests.flower.grid import LocalGrid
from tests.fuzz.file_targets import scratch
from tests.fuzz.flower_targets import quiet, read_value
from tests.fuzz.guided import Target
from tests.fuzz.mutate import TEXT, behind_choice

from lossyfl.flower import LossyMod, LossyStrategy

CHANGES = tuple(map(behind_choice, TEXT))
NODES = 3
LIAR = 1000
STRATEGIES: tuple[type[Strategy], ...] = (FedAvg, FedAdam)
SEEDS = (
    {"lossyfl": {"number": 1, "problem": "x", "round": 5}},
    {"lossyfl": {"digest": "00" * 8, "format": "1.1", "sizes": [1, 2]}},
    {"lossyfl": {"run": "hex:4c464c01", "training": 1.0, "coding": -1.0}},
    {"lossyfl": {"exact.n": ["int64", "numpy.ndarray", "3"], "bytes.n": "hex:00"}},
    {"metrics": {"num-examples": 10, "train-loss": 0.5}, "lossyfl.0": {"run": "hex:00"}},
    {"metrics": {"num-examples": None, "more": [1, 2]}, "arrays": {"w": [1.0, 2.0]}},
)


@cache
def _app() -> ClientApp:
    app = ClientApp(mods=[LossyMod()])

    @app.train()
    def train(message: Message, context: Context) -> Message:  # pyright: ignore[reportUnusedFunction]
        number = int(context.node_config["partition-id"])
        w = message.content["arrays"]["w"].numpy() + np.float32(0.1 * (number + 1))  # type: ignore[index]
        count = Array(message.content["arrays"]["n"].numpy())  # type: ignore[index]
        metrics = MetricRecord({"num-examples": 10 + number, "train-loss": 1.0})
        arrays = ArrayRecord({"w": Array(w), "n": count})
        return Message(RecordDict({"arrays": arrays, "metrics": metrics}), reply_to=message)

    return app


def _record(name: str, fields: dict[str, object]) -> ConfigRecord | MetricRecord | ArrayRecord:
    if name == "metrics":
        return MetricRecord(fields)  # type: ignore[arg-type]
    if name == "arrays":
        return ArrayRecord({key: Array(np.array(value)) for key, value in fields.items()})
    return ConfigRecord(fields)  # type: ignore[arg-type]


def lie(reply: Message, facts: dict[str, dict[str, object]]) -> None:
    """Change a reply; what Flower itself would not carry stays as it is."""
    for name, said in facts.items():
        try:
            before: dict[str, object] = dict(reply.content[name]) if name in reply.content else {}
            values = before | {key: read_value(value) for key, value in said.items()}
            kept = {key: value for key, value in values.items() if value is not None}
            reply.content[name] = _record(name, kept)
        except (ValueError, TypeError, AttributeError, OverflowError):
            continue


@quiet()
def play_round(data: bytes) -> None:
    """Two rounds: whatever one of three nodes says, they end, and the model is finite."""
    try:
        facts = json.loads(data[1:])
        assert isinstance(facts, dict)
    except (ValueError, AssertionError, RecursionError):
        return

    def change(reply: Message, node: int) -> None:
        if node == LIAR and reply.has_content():
            lie(reply, facts)

    inner = STRATEGIES[data[0] % len(STRATEGIES)](fraction_evaluate=0.0)  # type: ignore[call-arg]
    strategy = LossyStrategy(inner, "lfl", threads=1)
    grid = LocalGrid(_app(), NODES, scratch() / "nodes", change=change)
    start = ArrayRecord({"w": Array(np.zeros(20, np.float32)), "n": Array(np.array(3))})
    result = strategy.start(grid, start, num_rounds=2)
    w = result.arrays["w"].numpy()
    assert np.isfinite(w).all(), "the model is not finite"
    assert w.any(), "nobody was heard"


def _seeds() -> Sequence[bytes]:
    kinds = range(len(STRATEGIES))
    return [bytes([kind]) + json.dumps(said).encode() for said in SEEDS for kind in kinds]


TARGETS = (Target(name="flower-strategy", run=play_round, seeds=_seeds, how=CHANGES, steps=30),)
