"""Trainings in which one node answers something else than the others."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import numpy as np
from flwr.app import (
    Array,
    ArrayRecord,
    ConfigRecord,
    Context,
    Message,
    MetricRecord,
    RecordDict,
)
from flwr.clientapp import ClientApp
from flwr.serverapp import strategy as strategies
from tests.flower.app import NODES, make_app, start
from tests.flower.grid import Change, LocalGrid

from lossyfl.flower import LossyStrategy, lossy_mod

HOSTILE, OTHER = 1000, 1007
"""Nodes of `LocalGrid`."""


MIXED = ArrayRecord({"w": Array(np.zeros(9, np.float32)), "n": Array(np.array([3]))})


def train(
    folder: Path,
    change: Change,
    name: str = "FedAvg",
    *,
    model: ArrayRecord | None = None,
    app: ClientApp | None = None,
    grid: LocalGrid | None = None,
    rounds: int = 2,
    settings: Mapping[str, object] = MappingProxyType({}),
) -> LossyStrategy:
    usual = {"fraction_evaluate": 0.0, "min_available_nodes": NODES}
    inner = getattr(strategies, name)(**usual, **settings)
    strategy = LossyStrategy(inner, "lfl:q1=8,q2=8")
    grid = grid or LocalGrid(app or make_app(lossy_mod), NODES, folder)
    grid.change = change
    strategy.start(grid, start() if model is None else model, num_rounds=rounds)
    return strategy


def of(node: int, change: Callable[[Message], None]) -> Change:
    """The change of one node's answers."""

    def changed(reply: Message, sender: int) -> None:
        if sender == node and reply.has_content():
            change(reply)

    return changed


def head(reply: Message) -> ConfigRecord:
    return reply.content["lossyfl"]


def adding_app(step: float = 0.01) -> ClientApp:
    """Adds the same to all floats, of any width, and 1 to all whole numbers."""
    app = ClientApp(mods=[lossy_mod])

    @app.train()
    def train(message: Message, _: Context) -> Message:
        arrays: dict[str, Array] = {}
        for name, array in message.content["arrays"].items():
            values = array.numpy()
            more = step if values.dtype.kind == "f" else 1
            arrays[name] = Array((values + more).astype(values.dtype))
        metrics = MetricRecord({"num-examples": 10, "train-loss": 1.0})
        content = RecordDict({"arrays": ArrayRecord(arrays), "metrics": metrics})
        return Message(content, reply_to=message)

    return app


def assert_one_is_refused(strategy: LossyStrategy, **counts: int) -> None:
    assert [each.replies for each in strategy.rounds] == [NODES - 1] * len(strategy.rounds)
    assert dict(strategy.server.ledger.refusals.counts) == counts
    assert np.abs(strategy.server.theta).max() > 0
