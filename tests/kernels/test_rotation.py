"""The transform: the same tree of additions, however the stages touch the memory."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree, refuses

from lossyfl.kernels.rotation import flip_signs, hadamard_stages


@pytest.mark.parametrize("power", range(18))
def test_same_transform(power: int) -> None:
    x = np.random.default_rng(power).laplace(size=1 << power).astype(np.float32)
    agree(hadamard_stages, x, 1 / np.sqrt(len(x)))


@given(seed=st.integers(0, 2**32 - 1), entries=st.integers(0, 300))
def test_same_signs(seed: int, entries: int) -> None:
    rng = np.random.default_rng(seed)
    z, words = (rng.integers(0, 2**32, n, dtype=np.uint32) for n in (entries, -(-entries // 32)))
    agree(flip_signs, z, words)


def test_arrays_that_do_not_fit() -> None:
    refuses(hadamard_stages, np.ones(3, np.float32), 1.0)
    refuses(hadamard_stages, np.ones(0, np.float32), 1.0)
    refuses(flip_signs, np.ones(33, np.uint32), np.ones(1, np.uint32))
