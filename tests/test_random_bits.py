"""The compiled bits are those of the reference."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lossyfl import stream
from lossyfl.random_bits import bits


@given(start=st.integers(0, 10**6), length=st.integers(0, 200), seed=st.integers(0, 2**64 - 1))
def test_same_bits_as_the_reference(start: int, length: int, seed: int) -> None:
    rng = stream(seed)
    assert np.array_equal(bits(rng, start, start + length), rng.bits(start, start + length))
