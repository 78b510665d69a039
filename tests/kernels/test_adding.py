"""Sums, natively and by NumPy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree

from lossyfl.kernels.adding import add, add_letters, sum_looked_up, sum_of_squares


@given(
    entries=st.integers(0, 5000), more=st.integers(-1, 2), weight=st.floats(-9, 9, width=32),
    seed=st.integers(0, 10**6),
)  # fmt: skip
def test_same_sums(entries: int, more: int, weight: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, total = rng.normal(size=(2, max(entries, entries + more))).astype(np.float32)
    agree(add, x[:entries], weight, total[: max(entries + more, 0)].copy())
    agree(sum_of_squares, x[:entries])


@given(
    group=st.integers(0, 9), entries=st.one_of(st.integers(0, 50), st.integers(3000, 9000)),
    alphabet=st.integers(1, 300), fewer=st.sampled_from([0, 0, 1]), seed=st.integers(0, 10**6),
)  # fmt: skip
def test_same_letters(group: int, entries: int, alphabet: int, fewer: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    count = -(-entries // max(group, 1)) - fewer
    dtype = np.uint8 if alphabet <= 256 else np.uint16
    letters = rng.integers(0, alphabet, max(count, 0)).astype(dtype)
    rows = rng.normal(size=max(alphabet - fewer, 1) * max(group, 1)).astype(np.float32)
    total = rng.normal(size=entries).astype(np.float32)
    total[:10] = -0.0
    agree(add_letters, letters, rows, group, total.copy())
    agree(sum_looked_up, letters, rows.astype(np.float64) ** 2)
