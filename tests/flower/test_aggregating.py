"""The next model, made of all replies that count: by the server, or by the inner strategy."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import strategy as strategies
from flwr.serverapp.strategy import FedAvg
from tests.flower.answers import (
    HOSTILE,
    MIXED,
    adding_app,
    assert_one_is_refused,
    head,
    of,
    train,
)
from tests.flower.app import NODES, make_app, start
from tests.flower.grid import LocalGrid
from tests.flower.trainings import inner, play

from lossyfl.flower import LossyStrategy, lossy_mod


def test_lossless_is_plain_to_rounding(tmp_path: Path) -> None:
    plain = play(inner(), LocalGrid(make_app(), NODES, tmp_path), 5)
    lossy = play(
        LossyStrategy(inner(), "lossless"), LocalGrid(make_app(lossy_mod), NODES, tmp_path), 5
    )
    np.testing.assert_allclose(
        lossy.arrays["w"].numpy(), plain.arrays["w"].numpy(), rtol=1e-4, atol=1e-5
    )


def test_the_order_of_replies_does_not_matter(tmp_path: Path) -> None:
    def train(seed: int) -> bytes:
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path / str(seed), seed=seed)
        return play(LossyStrategy(inner()), grid, 5).arrays["w"].data

    assert train(1) == train(2)


def test_a_round_without_replies(tmp_path: Path) -> None:
    grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path, lost=1.0)
    lossy = LossyStrategy(inner())
    result = play(lossy, grid, 2)
    assert np.array_equal(result.arrays["w"].numpy().ravel(), lossy.server.theta[:640])


def test_a_model_that_its_own_dtype_cannot_hold_is_not_adopted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Huge(FedAvg):
        def aggregate_train(
            self, server_round: int, replies: Iterable[Message]
        ) -> tuple[ArrayRecord | None, MetricRecord | None]:
            _, metrics = super().aggregate_train(server_round, replies)
            return ArrayRecord({"w": Array(np.full(4, 7e4, np.float32))}), metrics

    app = ClientApp(mods=[lossy_mod])

    @app.train()
    def train(message: Message, _: Context) -> Message:
        metrics = MetricRecord({"num-examples": 1})
        content = RecordDict({"arrays": message.content["arrays"], "metrics": metrics})
        return Message(content, reply_to=message)

    inner = Huge(fraction_evaluate=0.0, min_available_nodes=2)
    model = ArrayRecord({"w": Array(np.ones(4, np.float16))})
    result = LossyStrategy(inner).start(LocalGrid(app, 2, tmp_path), model, num_rounds=1)
    assert result.arrays["w"].numpy().tolist() == [1, 1, 1, 1]
    assert "Huge made NaN or infinity; the model stays" in caplog.text


def test_what_the_inner_strategy_raises_is_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise ZeroDivisionError("of the strategy")

    monkeypatch.setattr(strategies.FedMedian, "aggregate_train", failing)
    with pytest.raises(ZeroDivisionError, match="of the strategy"):
        train(tmp_path, lambda *_: None, "FedMedian")


def test_a_strategy_that_makes_nan_is_in_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> tuple[ArrayRecord, MetricRecord]:
        nans = {name: Array(own.numpy() * np.float32("nan")) for name, own in start().items()}
        return ArrayRecord(nans), MetricRecord()

    monkeypatch.setattr(strategies.FedMedian, "aggregate_train", failing)
    made = train(tmp_path, lambda *_: None, "FedMedian")
    assert dict(made.server.ledger.refusals.counts) == {"overflow": 2}
    assert "FedMedian made NaN" in made.server.ledger.refusals.recent[-1].detail


@pytest.mark.parametrize("name", ["FedAvg", "FedMedian"])
def test_whole_numbers_far_from_what_others_say(name: str, tmp_path: Path) -> None:
    def change(reply: Message) -> None:
        head(reply)["bytes.n"] = Array(np.array([9 * 10**18])).data

    made = train(tmp_path, of(HOSTILE, change), name, model=MIXED, app=adding_app())
    assert_one_is_refused(made, outlier=2)
    assert made._training.exact["n"].numpy().tolist() == [5]
