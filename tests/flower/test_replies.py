"""Metrics and weights are the nodes' own word: none of them ends a training, or owns it."""

import math
from pathlib import Path

import numpy as np
import pytest
from flwr.app import Message
from flwr.serverapp import strategy as strategies
from flwr.serverapp.strategy import Result
from tests.flower.app import look, make_app, start
from tests.flower.grid import LocalGrid

from lossyfl.errors import InputError
from lossyfl.flower import LossyStrategy, lossy_mod
from lossyfl.flower.weights import Weights

NODES = 5
NAMES = ["FedAvg", "FedAdam"]


def train(
    folder: Path,
    said: dict[int, dict[str, object]],
    name: str = "FedAvg",
    rounds: int = 2,
    weights: Weights = "capped",
) -> tuple[LossyStrategy, Result]:
    """A training in which some devices say something else in their metrics than is true."""

    def change(reply: Message, node: int) -> None:
        number = (node - 1000) // 7
        if reply.has_content() and "metrics" in reply.content:
            reply.content["metrics"].update(said.get(number, {}))

    inner = getattr(strategies, name)(min_available_nodes=NODES)
    lossy = LossyStrategy(inner, "lossless", weights=weights)
    grid = LocalGrid(make_app(lossy_mod), NODES, folder, change=change)
    return lossy, lossy.start(grid, start(), num_rounds=rounds, evaluate_fn=look)


def model(result: Result) -> np.ndarray:
    return result.arrays["w"].numpy()


class TestMetrics:
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf, 1e300])
    def test_that_are_no_numbers_cost_no_update(
        self, odd: float, name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        lossy, result = train(tmp_path / "odd", {0: {"train-loss": odd}}, name)
        _, calm = train(tmp_path / "calm", {}, name)
        assert [each.replies for each in lossy.rounds] == [NODES, NODES]
        assert np.array_equal(model(result), model(calm))
        loss = result.train_metrics_clientapp[2]["train-loss"]
        assert loss == pytest.approx(calm.train_metrics_clientapp[2]["train-loss"], rel=0.1)
        assert lossy.rounds[-1].train_loss == loss
        assert "its metric train-loss is" in caplog.text
        assert lossy.server.ledger.refusals.counts["metric"] == 2

    def test_left_out_are_out_of_the_mean_to_rounding(self, tmp_path: Path) -> None:
        said = {
            number: {"mine": [float(number), 1.0], "train-loss": 2.0} for number in range(NODES)
        }
        said[0]["mine"] = [math.nan, 3.0]
        said[1]["num-examples"] = 280
        _, result = train(tmp_path, said, rounds=1)
        shares = np.array([140, 280, 140, 140, 140])
        first = shares[1:] @ [1, 2, 3, 4] / shares[1:].sum()
        second = shares @ [3, 1, 1, 1, 1] / shares.sum()
        assert result.train_metrics_clientapp[1]["mine"] == pytest.approx([first, second])

    def test_that_nobody_can_say_are_gone(self, tmp_path: Path) -> None:
        lossy, result = train(tmp_path, {n: {"train-loss": math.nan} for n in range(NODES)})
        assert [each.replies for each in lossy.rounds] == [NODES, NODES]
        assert dict(result.train_metrics_clientapp[2]) == {}
        assert lossy.rounds[-1].train_loss is None

    def test_of_an_evaluation_do_not_poison_it(self, tmp_path: Path) -> None:
        _, result = train(tmp_path, {0: {"eval-accuracy": math.nan}})
        assert 0.3 < result.evaluate_metrics_clientapp[2]["eval-accuracy"] <= 1


class TestWeights:
    @pytest.mark.parametrize("name", NAMES)
    @pytest.mark.parametrize("said", [1 << 53, 1e15])
    def test_are_capped(
        self, said: float, name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """As large as it may be is as ten times the median."""
        lossy, result = train(tmp_path / "huge", {0: {"num-examples": said}}, name)
        _, ten = train(tmp_path / "ten", {0: {"num-examples": 1400}}, name)
        assert np.array_equal(model(result), model(ten))
        assert result.train_metrics_clientapp[2] == ten.train_metrics_clientapp[2]
        assert "counts as 1400" in caplog.text
        assert lossy.server.ledger.refusals.counts["capped"] >= 2

    @pytest.mark.parametrize("name", NAMES)
    def test_of_zero_do_not_end_the_training(self, name: str, tmp_path: Path) -> None:
        zeros = {number: {"num-examples": 0} for number in range(NODES)}
        lossy, result = train(tmp_path / "zeros", zeros, name)
        _, calm = train(tmp_path / "calm", {}, name)
        assert [each.replies for each in lossy.rounds] == [NODES, NODES]
        assert np.allclose(model(result), model(calm), atol=1e-6)

    def test_of_zero_count_nothing_and_are_noted(self, tmp_path: Path) -> None:
        lossy, _ = train(tmp_path, {0: {"num-examples": 0}})
        assert [each.replies for each in lossy.rounds] == [NODES - 1, NODES - 1]
        assert lossy.server.ledger.refusals.counts["weightless"] >= 2

    def test_that_are_a_fraction_do_not_change_how_others_are_added(self, tmp_path: Path) -> None:
        lossy, result = train(tmp_path / "half", {0: {"num-examples": 0.5}})
        _, one = train(tmp_path / "one", {0: {"num-examples": 1}})
        assert np.array_equal(model(result), model(one))
        assert lossy.rounds[-1].replies == NODES

    def test_that_are_all_fractions_are_capped_too(self, tmp_path: Path) -> None:
        shares: dict[int, dict[str, object]] = {n: {"num-examples": 0.3} for n in range(NODES)}
        _, result = train(tmp_path / "a", shares | {0: {"num-examples": 1e9 + 0.5}})
        _, ten = train(tmp_path / "b", shares | {0: {"num-examples": 3.0}})
        assert np.allclose(model(result), model(ten), atol=1e-6)

    @pytest.mark.parametrize("weights", ["equal", dict.fromkeys(range(NODES), 7)])
    def test_may_be_the_servers(self, weights: Weights, tmp_path: Path) -> None:
        said = {0: {"num-examples": 1 << 53}, 1: {"num-examples": math.nan}}
        _, result = train(tmp_path / "own", said, weights=weights)
        _, calm = train(tmp_path / "calm", {})
        assert np.allclose(model(result), model(calm), atol=1e-6)

    def test_that_the_server_does_not_know_are_refused(self, tmp_path: Path) -> None:
        lossy, _ = train(tmp_path, {}, weights={1: 1, 2: 1})
        assert lossy.rounds[-1].replies == 2
        assert lossy.server.ledger.refusals.counts["weightless"] >= 6

    @pytest.mark.parametrize("weights", ["best", {0: 0}, {0: 1.5}])
    def test_that_are_no_setting(self, weights: Weights) -> None:
        with pytest.raises(InputError, match="weight"):
            LossyStrategy(strategies.FedAvg(), weights=weights)
