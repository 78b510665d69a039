"""Signs, and sums of magnitudes in eight parts."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree, cut, natives, refuses

from lossyfl.kernels.sign import signs


@given(seed=st.integers(0, 2**32 - 1), entries=st.integers(0, 3000), blocks=st.integers(1, 9))
def test_same_signs_and_means(seed: int, entries: int, blocks: int) -> None:
    rng = np.random.default_rng(seed)
    x = (rng.laplace(size=entries) * (rng.random(entries) < 0.9)).astype(np.float32)
    symbols, means = np.zeros(entries, np.uint8), np.zeros(blocks, np.float32)
    agree(signs, x, cut(entries, blocks, rng), symbols, means)


@given(seed=st.integers(0, 2**32 - 1))
def test_same_signs_of_any_bits(seed: int) -> None:
    """The smallest numbers, both zeros and NaN among them."""
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2**32, 300, dtype=np.uint32)
    x[:100] &= 0x80FFFFFF
    x[:4] = 0, 0x80000000, 1, 0x80000001
    symbols = np.zeros(300, np.uint8)
    for native in natives(signs):
        native(x.view(np.float32), np.array([0, 300]), symbols, np.zeros(1, np.float32))
        assert np.array_equal(symbols, x.view(np.float32) >= 0)


def test_arrays_that_do_not_fit() -> None:
    x, symbols, means = np.ones(8, np.float32), np.zeros(8, np.uint8), np.zeros(1, np.float32)
    refuses(signs, x, np.array([0, 9]), symbols, means)
    refuses(signs, x, np.array([0, 8]), symbols[:7], means)
    refuses(signs, x, np.array([0, 4, 8]), symbols, means)
