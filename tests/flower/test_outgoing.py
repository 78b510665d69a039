"""Messages to nodes: shared by all who lack the same, and otherwise as the inner strategy made them."""

from pathlib import Path

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp.strategy import FedAvg
from tests.flower.app import NODES, make_app, start
from tests.flower.grid import LocalGrid
from tests.flower.trainings import given, inner, play

from lossyfl.errors import InputError
from lossyfl.flower import LossyStrategy, lossy_mod


def test_is_shared_by_all_messages(tmp_path: Path) -> None:
    grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
    play(LossyStrategy(inner()), grid, 4)
    assert len({id(message.content) for message in grid.sent[-NODES:]}) == 1


def test_other_records_pass_untouched(tmp_path: Path) -> None:
    seen: list[RecordDict] = []
    app = ClientApp(mods=[lossy_mod])

    @app.train()
    def train(message: Message, _: object) -> Message:
        seen.append(message.content)
        content = RecordDict(
            {
                "arrays": message.content["arrays"],
                "metrics": MetricRecord({"num-examples": 3, "mine": [1.0, 2.0]}),
                "extra": ConfigRecord({"note": "hello"}),
            }
        )
        return Message(content, reply_to=message)

    got: list[RecordDict] = []

    def keep(contents: list[RecordDict], _: str) -> MetricRecord:
        got.extend(contents)
        return MetricRecord()

    fedavg = FedAvg(fraction_evaluate=0.0, train_metrics_aggr_fn=keep)
    LossyStrategy(fedavg).start(
        LocalGrid(app, 2, tmp_path), start(), 1, train_config=ConfigRecord({"lr": 0.5})
    )
    assert {key for content in seen for key in content} == {"arrays", "config"}
    assert seen[0]["config"]["lr"] == 0.5
    assert {key for content in got for key in content} == {"arrays", "metrics", "extra"}
    assert got[0]["metrics"]["mine"] == [1.0, 2.0]


def test_a_model_that_changed_is_named(tmp_path: Path) -> None:
    lossy = LossyStrategy(inner())
    grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
    play(lossy, grid, 1)
    other = ArrayRecord({"w": Array(np.zeros((64, 11), np.float32))})
    with pytest.raises(
        InputError, match=r"array w of the model must be float32 of shape \(64, 10\)"
    ):
        lossy.configure_train(2, other, ConfigRecord(), grid)


def test_a_node_that_was_away_catches_up(tmp_path: Path) -> None:
    grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
    lossy = LossyStrategy(inner())
    play(lossy, grid, 3)
    away = grid.contexts.pop(1000)
    lossy.inner = inner(min_available_nodes=2)
    arrays = lossy.server.theta
    assert len(arrays)
    for number in range(4, 7):
        model = lossy.configure_train(number, given(lossy), ConfigRecord(), grid)
        lossy.aggregate_train(number, grid.send_and_receive(model))
    grid.contexts[1000] = away
    messages = list(lossy.configure_train(7, given(lossy), ConfigRecord(), grid))
    sent = {m.metadata.dst_node_id: m.content["lossyfl"]["sizes"] for m in messages}
    assert len(sent[1000]) == 4  # the rounds 4, 5, 6 and 7
    assert len(sent[1007]) == 1
    lossy.aggregate_train(7, grid.send_and_receive(messages))
    lossy._training.journal.flush(lossy.server)
    assert lossy.rounds[-1].replies == NODES
