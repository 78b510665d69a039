"""Schemes that nobody named, and those that a strategy should not have."""

from pathlib import Path

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp.strategy import (
    DifferentialPrivacyServerSideFixedClipping,
    FedAdam,
    FedAvg,
    FedAvgM,
    FedMedian,
)
from tests.flower.app import NODES, accuracy, make_app, start
from tests.flower.grid import LocalGrid

from lossyfl.flower import LossyStrategy, lossy_mod
from lossyfl.flower.defaults import FIRST, FOR_MEANS, FOR_OTHERS, FORMER, coarse, default_scheme
from lossyfl.protocol.schemes import scheme


def _private(inner: FedAvg) -> DifferentialPrivacyServerSideFixedClipping:
    return DifferentialPrivacyServerSideFixedClipping(inner, 0.1, 1.0, 2)


def echo(seen: list[ArrayRecord]) -> ClientApp:
    """An app that returns the model, and keeps it for us to see."""
    app = ClientApp(mods=[lossy_mod])

    @app.train()
    def train(message: Message, _: Context) -> Message:
        seen.append(message.content["arrays"])
        metrics = MetricRecord({"num-examples": 1})
        content = RecordDict({"arrays": message.content["arrays"], "metrics": metrics})
        return Message(content, reply_to=message)

    return app


class TestDefault:
    def test_is_a_scale_per_tensor_and_finer_where_no_mean_is_taken(self) -> None:
        assert {default_scheme(own, [10]) for own in (FedAvg(), FedAvgM())} == {FOR_MEANS}
        assert {default_scheme(own, [10]) for own in (FedMedian(), FedAdam())} == {FOR_OTHERS}

    def test_is_that_of_the_strategy_inside(self) -> None:
        assert default_scheme(_private(FedAvg()), [10]) == FOR_MEANS
        assert default_scheme(_private(FedMedian()), [10]) == FOR_OTHERS

    def test_has_a_small_initial_model_where_that_is_large(self, tmp_path: Path) -> None:
        rng = np.random.default_rng(0)

        def first_message(entries: int) -> tuple[str, int]:
            parts = {"huge": 1e6, "tiny": 1e-6}
            model = {name: scale * rng.standard_normal(entries) for name, scale in parts.items()}
            lossy = LossyStrategy(FedAvg(fraction_evaluate=0.0, min_available_nodes=NODES))
            grid = LocalGrid(echo(seen), NODES, tmp_path / f"{entries}")
            arrays = ArrayRecord({name: Array(x.astype("f4")) for name, x in model.items()})
            lossy.start(grid, arrays, num_rounds=1)
            for name, x in model.items():  # each tensor to its own scale
                assert np.abs(seen[-1][name].numpy() - x).max() < 0.01 * parts[name]
            return lossy.spec, lossy.rounds[0].down.nbytes

        seen: list[ArrayRecord] = []
        assert first_message(400)[0] == FOR_MEANS
        spec, nbytes = first_message(4000)
        assert spec == FOR_MEANS + FIRST
        assert nbytes <= NODES * (2 * 4000 * 12 / 8 + 100)
        assert default_scheme(FedAvg(), [2] * 1000) == FOR_MEANS  # scales alone would take as much

    def test_a_named_scheme_is_what_it_says(self) -> None:
        """The paper's has one scale for the whole model."""
        assert LossyStrategy(FedAvg(), FORMER).spec == FORMER

    def test_checkpoints_of_the_former_default_go_on(self, tmp_path: Path) -> None:
        def train(spec: str, rounds: int) -> LossyStrategy:
            inner = FedAvg(fraction_evaluate=0.0, min_available_nodes=NODES)
            lossy = LossyStrategy(inner, spec, save_to=tmp_path / "saved")
            grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path / "state")
            lossy.start(grid, start(), num_rounds=rounds)
            return lossy

        train(FORMER, 1)
        again = train("", 2)
        assert again.spec == FORMER
        assert again.rounds[-1].round == 1


@pytest.mark.parametrize(
    ("inner", "spec", "is_said"),
    [
        (FedMedian(), "lfl:q1=2,q2=2", True),
        (FedMedian(), FOR_OTHERS, False),
        (FedMedian(), "lfl:q2=exact", False),
        (FedMedian(), "lossless", False),
        (_private(FedMedian()), "lb:q2=2", True),
        (FedAvg(), "lfl:q1=2,q2=2", False),
    ],
)
def test_replies_that_are_too_coarse_are_named(inner: FedAvg, spec: str, is_said: bool) -> None:
    assert bool(coarse(inner, scheme(spec))) == is_said


def test_a_median_of_coarse_replies_is_warned_of_and_the_default_learns(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def train(spec: str) -> float:
        inner = FedMedian(fraction_evaluate=0.0, min_available_nodes=NODES)
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path / (spec or "default"))
        return accuracy(LossyStrategy(inner, spec).start(grid, start(), num_rounds=5).arrays)

    named = train("lfl:q1=2,q2=2")
    assert "FedMedian takes no mean" in caplog.text
    caplog.clear()
    assert train("") > named
    assert "takes no mean" not in caplog.text
