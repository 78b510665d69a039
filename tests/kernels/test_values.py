"""Look-ups and ladders, natively and by NumPy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree

from lossyfl.kernels.adding import add_rows, sum_rows
from lossyfl.kernels.values import ladder_rows, look_up

edges = st.lists(st.integers(-1, 60), min_size=0, max_size=6)


@given(
    bounds=st.one_of(edges, edges.map(sorted)), width=st.integers(0, 300), entries=st.integers(0, 60),
    wide=st.booleans(), seed=st.integers(0, 10**6), fewer=st.integers(0, 2),
)  # fmt: skip
def test_same_values_and_sums(
    bounds: list[int], width: int, entries: int, wide: bool, seed: int, fewer: int
) -> None:
    rng = np.random.default_rng(seed)
    symbols = rng.integers(0, max(width, 2), entries).astype(np.uint16 if wide else np.uint8)
    rows = rng.normal(size=max(width * max(len(bounds) - 1, 0) - fewer, 0)).astype(np.float32)
    cuts, squares = np.array(bounds, np.int64), rows.astype(np.float64) ** 2
    agree(look_up, symbols, cuts, rows, np.zeros(entries, np.float32))
    agree(add_rows, symbols, cuts, rows, np.ones(60, np.float32))
    agree(sum_rows, symbols, cuts, squares)


@given(
    blocks=st.integers(0, 5), alphabet=st.integers(-1, 70), wrong=st.sampled_from([0, 0, 0, 1]),
    seed=st.integers(0, 10**6),
)  # fmt: skip
def test_same_ladders(blocks: int, alphabet: int, wrong: int, seed: int) -> None:
    low, spread = np.random.default_rng(seed).exponential(size=(2, blocks)).astype(np.float32)
    size = max(blocks * alphabet, 0) + wrong
    agree(ladder_rows, low, low + spread, alphabet, np.zeros(size, np.float32))
