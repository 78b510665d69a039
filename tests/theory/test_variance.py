"""Lemma 1: eps by hand, and the bound against the quantizer's own variance."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl import InputError, Stochastic, decode, encode, stream
from lossyfl.theory import eps, relative_variance


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
