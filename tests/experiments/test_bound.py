"""The experiment's constants are what the theorem asks for, and the bound holds."""

import sys
from dataclasses import replace

import numpy as np
import pytest

from lossyfl import MissingExtra, Stochastic, stream
from lossyfl.experiments import bound, logistic
from lossyfl.experiments.bound import Outcome
from lossyfl.experiments.bound_settings import BoundSetting, Grid

SETTING = BoundSetting(
    q1="2",
    tau=2,
    partition="paper",
    eta="0.05",
    devices=10,
    rounds=4,
    batch=4,
    seeds=2,
    samples=300,
)
PROBLEM = logistic.regression(SETTING.source())


@pytest.fixture(scope="module")
def outcomes() -> list[Outcome]:
    def small(**chosen: object) -> BoundSetting:
        return replace(SETTING, rounds=10, **chosen)  # pyright: ignore[reportArgumentType]

    return bound.run(Grid(q1s=("exact", "4@0/2@5"), q2s=("exact", "2")).settings(small))


class TestRun:
    def test_bound_holds_at_every_round(self, outcomes: list[Outcome]) -> None:
        assert len(outcomes) == 32
        for outcome in outcomes:
            assert len(outcome.distance) == outcome.setting.rounds + 1
            assert outcome.distance[0] == pytest.approx(outcome.distance_bound[0], rel=1e-12)
            assert outcome.holds, outcome.setting
            assert outcome.least_looseness >= 1

    def test_own_eps_and_omega_of_each_round_bound_closer(self, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            both = np.array([outcome.by_round, outcome.distance_bound])
            assert np.all(both[0] <= both[1] * (1 + 1e-12))
            exact = outcome.setting.q1 == outcome.setting.q2 == "exact"
            assert exact == (both[0, -1] == both[1, -1])

    def test_quantizing_replies_costs_something(self, outcomes: list[Outcome]) -> None:
        of = {outcome.setting: outcome for outcome in outcomes}
        for setting, outcome in of.items():
            exact = of[replace(setting, q2="exact")]
            assert (outcome.by_round[-1] > exact.by_round[-1]) == (setting.q2 != "exact")

    def test_training_goes_forward(self, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            assert outcome.gap[-1] < outcome.gap[0], outcome.setting
            assert min(outcome.gap) > 0

    def test_constants_are_measured(self, outcomes: list[Outcome]) -> None:
        for outcome in outcomes:
            assert outcome.problem.dimension == 650
            assert outcome.problem.gradient_bound > 0
            assert outcome.eps[0] == 0  # the first broadcast is exact
            assert (max(outcome.eps) == 0) == (outcome.setting.q1 == "exact")
            assert (min(outcome.omega) > 0) == (outcome.setting.q2 != "exact")
            assert max(outcome.eps) <= 1

    def test_same_seeds_give_the_same_numbers(self) -> None:
        setting = replace(SETTING, q2="2")
        assert bound.run([setting]) == bound.run([setting])

    def test_is_the_mean_of_its_seeds(self) -> None:
        first = bound.run([replace(SETTING, seeds=1)])[0]
        both = bound.run([SETTING])[0]
        assert first.distance[-1] != both.distance[-1]
        assert first.problem.gradient_bound <= both.problem.gradient_bound
        assert all(one <= more for one, more in zip(first.eps, both.eps, strict=True))

    def test_outcomes_are_in_the_order_of_their_settings(self) -> None:
        settings = [replace(SETTING, partition=each) for each in ("iid", "paper", "iid")]
        assert [outcome.setting for outcome in bound.run(settings)] == settings

    def test_tells_how_it_goes(self) -> None:
        told = list[tuple[str, int, int]]()
        bound.run([SETTING], tick=lambda *how: told.append(how))
        assert told[0] == ("minima", 1, 11)
        assert told[-1] == ("local steps", 16, 16)

    def test_lossless_round_is_federated_averaging(self) -> None:
        """One round with one local step, by hand: theta(1) = -eta sum_m B_m/B g_m."""
        setting = replace(SETTING, q1="exact", tau=1, rounds=1, seeds=1)
        theta = np.zeros((10, 65))
        for m in range(10):
            own = PROBLEM.device(m)
            for i in stream(0, purpose="batch", round=0, device=m).bits(0, 4) % PROBLEM.sizes[m]:
                y = np.eye(10)[own.labels[i]]
                theta -= 0.05 * PROBLEM.shares[m] * np.outer(0.1 - y, own.x[i]) / 4
        best = logistic.optimum(PROBLEM)
        expected = np.sum((theta - best.theta) ** 2)
        assert bound.run([setting])[0].distance[1] == pytest.approx(expected, rel=1e-10)

    def test_an_outcome_that_does_not_hold_says_so(self, outcomes: list[Outcome]) -> None:
        less = tuple(value / 2 for value in outcomes[0].distance)
        assert not replace(outcomes[0], distance_bound=less).holds
        assert not replace(outcomes[0], by_round=less).holds

    def test_relative_variance_is_that_of_the_quantizer(self) -> None:
        """Of 2,000 roundings of two vectors; 2 % are 5 standard deviations."""
        vectors = np.stack([np.linspace(-1, 2, 30), np.cos(np.arange(30))]).astype(np.float32)
        weights = np.array([0.3, 0.7])
        lost = [
            weights[m] * np.sum((bound.sent(y, Stochastic(levels=2), seed, 0, m) - y) ** 2)
            for seed in range(2000)
            for m, y in enumerate(vectors)
        ]
        energy = weights @ np.sum(vectors**2, axis=1)
        found = bound.relative_variance(vectors.astype(np.float64), 2, weights)
        assert sum(lost) / 2000 / energy == pytest.approx(found, rel=0.02)
        assert bound.relative_variance(np.zeros((2, 3)), 2, weights) == 0

    def test_missing_extra_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "threadpoolctl", None)
        with pytest.raises(MissingExtra, match=r"threadpoolctl .*lossyfl\[sim\]"):
            bound.run([SETTING])
