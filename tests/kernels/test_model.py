"""Frequencies and what they cost, natively and by NumPy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree

from lossyfl.kernels.model import build_frequencies, letters_of, mean_bits, normalise

weights = st.lists(
    st.one_of(st.just(0), st.integers(1, 50), st.integers(1, 2**26)), min_size=2, max_size=300
).filter(any)


@given(weights=weights, bits=st.sampled_from([9, 12, 15, 16, 28, 29, 0]))
def test_same_frequencies(weights: list[int], bits: int) -> None:
    given_weights = np.array(weights, np.uint64)
    agree(normalise, given_weights, bits, np.empty_like(given_weights))


@given(weights=weights, group=st.integers(0, 9), seed=st.integers(0, 10**6))
def test_same_letters_and_cost(weights: list[int], group: int, seed: int) -> None:
    given_weights = np.array(weights, np.uint64)
    n = len(weights)
    length = n if not group else max(letters_of(n, group), 1)
    _, _, frequencies, result = agree(
        build_frequencies, given_weights, group, np.zeros(length, np.uint64)
    )
    counts = np.random.default_rng(seed).integers(0, 99, n) + 1
    if result == 0:
        agree(mean_bits, frequencies, counts, group)


@pytest.mark.parametrize("group", [-1, 0, 1, 2, 9, 2**40])
def test_wrong_sizes_are_refused(group: int) -> None:
    for size in (0, 1, 26, 255, 257, 300):
        *_, result = agree(
            build_frequencies, np.ones(5, np.uint64), group, np.zeros(size, np.uint64)
        )
        assert result == -1
        weights = np.ones(size, np.uint64)
        assert agree(mean_bits, weights, np.ones(5, np.int64), group)[-1] == math.inf
