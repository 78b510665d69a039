"""Sums of squares, of floats and of doubles."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree

from lossyfl.kernels.theory import sum_of_squares_f32, sum_of_squares_f64


@given(seed=st.integers(0, 2**32 - 1), length=st.integers(0, 9000), high=st.floats(1e-30, 1e30))
def test_same_sums(seed: int, length: int, high: float) -> None:
    x = np.random.default_rng(seed).normal(size=length)
    agree(sum_of_squares_f64, x, high)
    agree(sum_of_squares_f32, x.astype(np.float32), high)
