"""Messages from nodes: by which device, and what to do about one that has no lossy_mod."""

from pathlib import Path

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp.strategy import FedAvg
from tests.flower.app import NODES, make_app, start
from tests.flower.grid import LocalGrid
from tests.flower.trainings import given, inner, play

from lossyfl.flower import LossyStrategy, lossy_mod


def test_an_app_without_the_mod(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    app = ClientApp()

    @app.train()
    def train(message: Message, _: object) -> Message:
        content = RecordDict({"arrays": start(), "metrics": MetricRecord({"num-examples": 1})})
        return Message(content, reply_to=message)

    play(LossyStrategy(inner()), LocalGrid(app, NODES, tmp_path), 1)
    assert "put lossy_mod first into its app, ClientApp(mods=[lossy_mod])" in caplog.text


def test_an_app_without_the_mod_that_looks_for_the_model(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As most apps do: the model's record is not there, and the app raises."""
    play(LossyStrategy(inner()), LocalGrid(make_app(), NODES, tmp_path), 1)
    assert "KeyError('arrays') (is lossy_mod in the ClientApp? ClientApp(mods=" in caplog.text


def test_an_app_that_raises_with_the_mod(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
    lossy = LossyStrategy(inner())
    play(lossy, grid, 1)
    grid.app = make_app(_raising, lossy_mod)
    messages = lossy.configure_train(2, given(lossy), ConfigRecord(), grid)
    lossy.aggregate_train(2, grid.send_and_receive(messages))
    assert "ZeroDivisionError('mine')" in caplog.text
    assert "is lossy_mod in the ClientApp" not in caplog.text


def _raising(*_: object) -> Message:
    raise ZeroDivisionError("mine")


def test_an_app_without_the_mod_is_told_in_a_line_of_its_own(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Flower's line of each error is long, and what to do is at its end."""
    play(LossyStrategy(inner()), LocalGrid(make_app(), NODES, tmp_path), 2)
    said = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    (line,) = [each for each in said if "is lossy_mod in the ClientApp?" in each]
    assert line.startswith("lossyfl: ")
    assert len(line) < 110


def test_two_nodes_with_one_number(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
    grid.add(4000, 0)
    lossy = LossyStrategy(inner())
    play(lossy, grid, 2)
    assert lossy.rounds[-1].replies == NODES
    assert "both say that they are device 0: give each its own partition-id" in caplog.text


def test_a_new_node_id_with_the_same_number(tmp_path: Path) -> None:
    grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
    lossy = LossyStrategy(inner())
    play(lossy, grid, 3)
    del grid.contexts[1000]
    grid.add(4000, 0)
    messages = lossy.configure_train(4, given(lossy), ConfigRecord(), grid)
    lossy.aggregate_train(4, grid.send_and_receive(messages))
    lossy._training.journal.flush(lossy.server)
    assert lossy.rounds[-1].replies == NODES
    assert lossy.server.members == tuple(range(NODES))


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("number", -1, "number is -1"),
        ("format", "0.0", "install the same lossyfl"),
        ("exact.n", ["int64", "numpy.ndarray", "9999999"], "array n of the reply"),
        ("bytes.n", b"garbage", "array n of the reply"),
        ("sizes", [1 << 60], "is damaged"),
    ],
)
def test_hostile_records(
    field: str,
    value: object,
    reason: str,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = ClientApp(mods=[lossy_mod])

    @app.train()
    def train(message: Message, _: object) -> Message:
        content = RecordDict(
            {"arrays": message.content["arrays"], "metrics": MetricRecord({"num-examples": 1})}
        )
        return Message(content, reply_to=message)

    def change(reply: Message, node: int) -> None:
        if node == 1000:
            reply.content["lossyfl"][field] = value

    model = ArrayRecord({"w": Array(np.zeros(9, np.float32)), "n": Array(np.array([3]))})
    lossy = LossyStrategy(FedAvg(fraction_evaluate=0.0))
    lossy.start(LocalGrid(app, 3, tmp_path, change=change), model, 2)
    assert lossy.rounds[-1].replies == 2
    assert reason in caplog.text
