"""Counting, natively and by NumPy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lossyfl.kernels.histogram import count
from lossyfl.kernels.native import natives, reference
from lossyfl.types import symbol_type


@given(
    alphabet=st.one_of(st.integers(1, 20), st.integers(1, 700)),
    length=st.one_of(st.integers(0, 200), st.integers(8_000, 9_000)),
    beyond=st.sampled_from([0, 0, 0, 1, 50]),
    seed=st.integers(0, 10**6),
)
def test_same_counts(alphabet: int, length: int, beyond: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    most = min(alphabet + beyond, 256) if alphabet <= 256 else alphabet + beyond
    symbols = rng.integers(0, most, length).astype(symbol_type(alphabet))

    plain = np.ones(alphabet, np.int64)
    result = reference(count)(symbols, plain, np.empty(0, np.uint32))
    assert (result < 0) == bool(length and symbols.max() >= alphabet)
    for version in natives(count):
        counts = np.ones(alphabet, np.int64)
        assert version(symbols, counts, np.empty(4 * alphabet, np.uint32)) == result
        assert result < 0 or np.array_equal(counts, plain)


def test_lanes_that_are_too_few_are_refused() -> None:
    for version in natives(count):
        assert (
            version(np.zeros(4, np.uint16), np.zeros(300, np.int64), np.zeros(8, np.uint32)) == -1
        )
