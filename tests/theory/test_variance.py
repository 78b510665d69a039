"""Lemma 1: eps by hand, and the bound against the quantizer's own variance."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl import InputError, Stochastic, decode, encode, stream
from lossyfl.theory import eps, relative_variance
from lossyfl.theory.variance import block_variance, length


class TestEps:
    @pytest.mark.parametrize(
        ("x", "expected"),
        [
            ([0.0, 0.0, -2.5, 0.0], 1.0),
            ([7.0, -7.0, 7.0], 0.0),
            ([3.0], 0.0),
            ([0.0, 0.0], 0.0),
            ([1.0, -2.0], 1 / 5),
            ([1e-200, -2e-200], 1 / 5),
            ([1e200, 2e200], 1 / 5),
        ],
    )
    def test_examples(self, x: list[float], expected: float) -> None:
        assert eps(x) == pytest.approx(expected, rel=1e-15)

    @given(x=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
    def test_is_in_the_unit_interval(self, x: list[float]) -> None:
        assert 0 <= eps(x) <= 1

    @pytest.mark.parametrize("bad", [[], [1.0, math.nan], [math.inf]])
    def test_wrong_vectors(self, bad: list[float]) -> None:
        with pytest.raises(InputError, match="x of eps must be finite, of at least one entry"):
            eps(bad)


@pytest.mark.parametrize("levels", [1, 2, 5])
def test_the_variance_of_the_stochastic_quantizer_is_below_the_bound(levels: int) -> None:
    """The mean of 200 seeds; single errors are spread by some percent, the bound is a factor above."""
    x = np.random.default_rng(0).normal(size=300).astype(np.float32)
    errors = [
        np.sum((decode(encode(x, Stochastic(levels=levels), rng=stream(seed))) - x) ** 2)
        for seed in range(200)
    ]
    bound = relative_variance(eps(x), dimension=len(x), levels=levels)
    assert 0 < np.mean(errors) / np.sum(x**2) <= bound


def test_the_bound_falls_with_the_square_of_levels() -> None:
    one, two = (relative_variance(0.1, dimension=50, levels=q) for q in (1, 2))
    assert one == 4 * two == 0.1 * 50 / 4


@given(
    x=st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=40),
    cut=st.integers(0, 40),
)
def test_one_block_is_lemma_1_and_more_blocks_are_their_sum(x: list[float], cut: int) -> None:
    vector = np.array(x, np.float32)
    whole = block_variance(vector, np.array([0, len(x)]))
    assert whole == pytest.approx(eps(vector) * len(x) / 4, rel=1e-6)
    if 0 < cut < len(x):
        parts = [vector[:cut].astype(float), vector[cut:].astype(float)]
        sums = sum(len(p) * (np.abs(p).max() - np.abs(p).min()) ** 2 for p in parts)
        expected = sums / (4 * sum(p @ p for p in parts)) if vector.any() else 0
        assert block_variance(vector, np.array([0, cut, len(x)])) == pytest.approx(
            expected, rel=1e-5
        )


@given(x=st.lists(st.floats(-(2.0**50), 2.0**50, width=32), max_size=40))
def test_length_is_the_norm(x: list[float]) -> None:
    expected = np.linalg.norm(np.array(x, np.float32).astype(float))
    assert length(np.array(x, np.float32)) == pytest.approx(expected, rel=1e-6)


def test_length_neither_overflows_nor_vanishes() -> None:
    assert length(np.full(4, 3e38, np.float32)) == pytest.approx(6e38)
    assert length(np.full(4, 1e-40, np.float32)) == pytest.approx(2e-40, rel=1e-5)
