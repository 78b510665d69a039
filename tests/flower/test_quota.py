"""A server cannot fill a node's disk: the node's config says how much it keeps."""

from pathlib import Path

import numpy as np
from flwr.app import Array, ArrayRecord, Message
from flwr.serverapp.strategy import FedAvg
from tests.flower.grid import LocalGrid
from tests.flower.test_one_answer import adding_app

from lossyfl.adapters.folders import state_folders
from lossyfl.flower import LossyStrategy

ENTRIES = 1000


def test_a_server_that_begins_one_training_after_another_fills_no_disk(tmp_path: Path) -> None:
    model = ArrayRecord({"w": Array(np.zeros(ENTRIES, np.float32))})
    grid = LocalGrid(adding_app(), 2, tmp_path)
    for context in grid.contexts.values():
        context.node_config["lossyfl-quota"] = 40_000
    for _ in range(5):
        LossyStrategy(FedAvg(fraction_evaluate=0.0)).start(grid, model, num_rounds=2)
    sizes = [own.nbytes for own in state_folders(tmp_path, 0)]
    assert 1 <= len(sizes) <= 2
    assert sum(sizes) < 44_000


def test_a_model_that_a_node_has_no_room_for_is_refused_before_training(tmp_path: Path) -> None:
    said: list[str] = []

    def change(reply: Message, _: int) -> None:
        said.append(reply.content["lossyfl"]["problem"])

    model = ArrayRecord({"w": Array(np.zeros(ENTRIES, np.float32))})
    grid = LocalGrid(adding_app(), 2, tmp_path, change=change)
    for context in grid.contexts.values():
        context.node_config["lossyfl-quota"] = 15_000
    LossyStrategy(FedAvg(fraction_evaluate=0.0)).start(grid, model, num_rounds=1)
    assert len(said) == 2
    assert all("lossyfl-quota of the node's config" in each for each in said)
