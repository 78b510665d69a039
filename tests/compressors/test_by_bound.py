"""Levels by Theorem 1."""

import math
from itertools import pairwise

import numpy as np
import pytest

from lossyfl import InputError, scheme
from lossyfl.compressors.by_bound import ByBound
from lossyfl.theory import Problem, bound

RULE = ByBound(q=64, rounds=60, mu=0.4, eta=0.2, tau=2)
PROBLEM = Problem(
    mu=0.4, smoothness=2, gradient_bound=1, heterogeneity=0, dimension=10_000, distance0=1
)
NOTHING = np.zeros(0, np.float32), np.zeros(0, np.int64)


def levels(rule: ByBound) -> list[int]:
    return [rule.levels(*NOTHING, t) for t in range(1, rule.rounds)]


def last(q1: object) -> float:
    """Theorem 1's bound after all rounds."""
    found = bound(PROBLEM, rounds=60, tau=2, eta=0.2, q1=q1, eps=1.0)  # type: ignore[arg-type]
    return float(found[-1])


def test_as_many_levels_in_the_geometric_mean() -> None:
    exact = [RULE.exact(t) for t in range(1, 60)]
    assert math.exp(np.mean(np.log(exact))) == pytest.approx(64)
    assert exact == sorted(exact)
    ratio = RULE.contraction**-0.5
    assert [b / a for a, b in pairwise(exact)] == pytest.approx([ratio] * 58)


def test_the_bound_is_less_than_with_as_many_levels_throughout() -> None:
    chosen = levels(RULE)
    assert np.mean(np.log2(np.array(chosen) + 1)) < np.log2(66 + 1)  # the paper's count of bits
    exact = last(None)
    adaptive = last(lambda t: chosen[t - 1]) - exact  # what quantizing adds
    constant = last(66) - exact
    assert adaptive < 0.8 * constant


def test_no_exchange_of_levels_between_two_rounds_makes_it_less() -> None:
    """More by a tenth in one round and less by a tenth in another: never better by more than rounding."""
    chosen, best = levels(RULE), last(lambda t: levels(RULE)[t - 1])
    for up, down in ((5, 50), (50, 5), (30, 59), (59, 30)):
        other = list(chosen)
        other[up - 1], other[down - 1] = round(1.1 * other[up - 1]), round(other[down - 1] / 1.1)
        assert last(lambda t, other=other: other[t - 1]) > best * (1 - 1e-3)


def test_contraction_is_that_of_the_theorem() -> None:
    assert RULE.contraction == 1 - 0.4 * 0.2 * (2 - 0.2 * (2 - 1))


def test_a_run_has_no_more_rounds_than_it_was_made_for() -> None:
    chosen = scheme("lfl:q1=bound(rounds=20,mu=0.1,eta=0.05,tau=4)")
    chosen.check([100], 20)
    with pytest.raises(
        InputError, match="rounds of bound must be as many as the run has, 21, got 20"
    ):
        chosen.check([100], 21)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"eta": 0.6, "tau": 4, "mu": 0.5}, r"eta of bound must be in \(0, 0.5\)"),
        ({"eta": 1.0, "mu": 1.0}, "eta of bound must be in"),
        ({"eta": 0.1, "mu": 0}, "mu of bound must be a finite number > 0"),
        ({"eta": 0.1, "mu": 1, "tau": 0}, "tau of bound must be an int >= 1"),
        ({"eta": 0.1, "mu": 1, "q": 0}, "q of bound must be a finite number > 0"),
    ],
)
def test_wrong_settings(settings: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ByBound(rounds=10, **settings)  # type: ignore[arg-type]
