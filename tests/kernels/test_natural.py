"""Powers of two of all floats there are."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree, refuses

from lossyfl.kernels.natural import draw_powers


@given(
    seed=st.integers(0, 2**32 - 1),
    length=st.integers(0, 2500),
    start=st.integers(0, 2**33),
    below=st.sampled_from([2**32, 2**25, 2**4]),
)
def test_same_codes_of_any_bits(seed: int, length: int, start: int, below: int) -> None:
    x = np.random.default_rng(seed).integers(0, below, length, dtype=np.uint32)
    x ^= (np.arange(length, dtype=np.uint32) & np.uint32(1)) << np.uint32(31)
    agree(draw_powers, x, 3, seed, start, np.zeros(length, dtype=np.uint16))


def test_powers_of_two_are_themselves() -> None:
    """All of them, below the smallest normal number as well."""
    exponents = np.arange(-149, 128)
    x = np.ldexp(np.float32(1), exponents)
    codes = np.zeros(len(x), dtype=np.uint16)
    draw_powers(x.view(np.uint32), 1, 2, 0, codes)
    assert np.array_equal(codes, exponents + 150)


def test_arrays_that_do_not_fit() -> None:
    refuses(draw_powers, np.zeros(3, np.uint32), 1, 2, 0, np.zeros(2, np.uint16))


def test_the_last_entries_of_a_stream_wrap_around() -> None:
    """Nobody has a vector as long; the sum of `start` and a place in it must not overflow all the same."""
    x = np.full(2500, 0x3FC00000, dtype=np.uint32)
    agree(draw_powers, x, 3, 4, 2**63 - 1, np.zeros(2500, dtype=np.uint16))
