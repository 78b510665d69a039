"""The bits that dithered steps will take."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree, natives, refuses

from lossyfl.kernels.dithered import expected_bits


@given(seed=st.integers(0, 2**32 - 1), length=st.integers(1, 300), step=st.floats(1e-2, 1e4))
def test_same_bits(seed: int, length: int, step: float) -> None:
    rng = np.random.default_rng(seed)
    values = np.sort(rng.exponential(size=length))
    counts = rng.integers(0, 1000, (2, length))
    agree(expected_bits, values, counts, step, np.zeros((2, 3 + int(values[-1] / 1e-2))))


def test_arrays_that_do_not_fit() -> None:
    values, counts = np.array([1.0, 2.0]), np.ones((2, 2), np.int64)
    refuses(expected_bits, values, counts, 1.0, np.zeros(7))
    refuses(expected_bits, values, counts, 0.0, np.zeros(80))
    refuses(expected_bits, values, counts, -1.0, np.zeros(80))
    refuses(expected_bits, values, counts[0], 1.0, np.zeros(80))
    refuses(expected_bits, values[:0], counts[:, :0], 1.0, np.zeros(80))
    for native in natives(expected_bits):  # not in ascending order
        assert native(values[::-1].copy(), counts, 0.1, np.zeros(24)) == -1
