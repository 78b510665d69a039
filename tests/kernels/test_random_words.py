"""Random bits: the same words at every level."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree

from lossyfl.kernels.random_words import random_bits

WORDS = st.integers(0, 2**64 - 1)


@given(a=WORDS, b=WORDS, start=st.integers(0, 2**40), length=st.integers(0, 2100))
def test_same_bits(a: int, b: int, start: int, length: int) -> None:
    agree(random_bits, a, b, start, np.zeros(length, dtype=np.uint32))


def test_entries_are_halves_of_words() -> None:
    whole, part = np.zeros(100, dtype=np.uint32), np.zeros(37, dtype=np.uint32)
    random_bits(1, 2, 0, whole)
    random_bits(1, 2, 5, part)
    assert np.array_equal(whole[5:42], part)
