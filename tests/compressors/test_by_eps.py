"""Levels by Lemma 1."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import laplace

from lossyfl import InputError, Stochastic, stream
from lossyfl.compressors.by_eps import ByEps
from lossyfl.theory.variance import eps
from lossyfl.wire.codec import quantize
from lossyfl.wire.values import values


def levels(rule: ByEps, x: np.ndarray) -> int:
    return rule.levels(x, np.array([0, len(x)]), 0)


@given(st.integers(0, 10**6), st.floats(1e-3, 10))
def test_the_fewest_levels_that_lemma_1_allows(seed: int, variance: float) -> None:
    x = laplace(500, seed)
    q, spread = levels(ByEps(variance=variance), x), eps(x) * len(x) / 4
    assert spread / q**2 <= variance * (1 + 1e-12)
    assert q == 1 or spread / (q - 1) ** 2 > variance * (1 - 1e-12)


def test_the_variance_of_draws_is_within_the_limit() -> None:
    """The mean over 40 draws, each of 2,000 entries; Lemma 1 is far from tight for such vectors."""
    x, rule = laplace(2000), ByEps(variance=0.25)
    chosen, energy = Stochastic(levels=levels(rule, x)), float(x.astype(np.float64) @ x)
    lost = [np.sum((values(quantize(x, chosen, rng=stream(k))) - x) ** 2) for k in range(40)]
    assert 0.01 * energy < np.mean(lost) < 0.25 * energy


def test_a_range_per_block_needs_fewer_levels() -> None:
    x = np.concatenate([laplace(500), 100 * laplace(500, 1)])
    rule = ByEps(variance=0.1)
    assert rule.levels(x, np.array([0, 500, 1000]), 0) < rule.levels(x, np.array([0, 1000]), 0)


def test_equal_magnitudes_need_one_level() -> None:
    assert levels(ByEps(variance=1e-6), np.array([2, -2, 2], np.float32)) == 1


@pytest.mark.parametrize("variance", [0, -1, float("inf"), "much"])
def test_what_is_no_variance(variance: float) -> None:
    with pytest.raises(InputError, match="variance of eps must be a finite number > 0"):
        ByEps(variance=variance)
