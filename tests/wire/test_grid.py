"""Grids: sums without rounding, and symbols that stand for a vector to the bit."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import f32

from lossyfl import FrameMeta, decode
from lossyfl.types import Codebook, UniformTable
from lossyfl.wire.frame import pack
from lossyfl.wire.grid import MOST, multiples, step_of
from lossyfl.wire.values import values

finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
exponents = st.integers(-149, 100)


class TestStepOf:
    @pytest.mark.parametrize(
        ("entries", "step"),
        [
            ([1, 2, 3], 1), ([0.75, -6, 0], 0.25), ([-48, 16], 16), ([2**24 + 2], 2), ([0, -0.0], 0),
            ([1e-45], 2**-149), ([3 * 2**-140, 2**-130], 2**-140), ([2.0**127], 2.0**127),
        ],
    )  # fmt: skip
    def test_values(self, entries: list[float], step: float) -> None:
        assert step_of(f32(entries)) == step

    @given(st.lists(finite, min_size=1, max_size=20))
    def test_is_the_largest_that_divides_all(self, entries: list[float]) -> None:
        x = f32(entries)
        step = step_of(x)
        if step:
            numbers = x.astype(np.float64) / step
            assert (numbers % 1 == 0).all()
            assert (numbers % 2 != 0).any()
        else:
            assert not x.any()


class TestMultiples:
    @given(st.lists(st.integers(-MOST, MOST), min_size=1, max_size=60), st.integers(-149, 100))
    def test_stand_for_the_vector_to_the_bit(self, numbers: list[int], exponent: int) -> None:
        x = (np.array(numbers) * 2.0**exponent).astype(np.float32)
        made = multiples(x)
        assert made is not None
        assert values(made).tobytes() == x.tobytes()
        assert decode(pack(made, FrameMeta())).tobytes() == x.tobytes()

    def test_beyond_the_symbols_there_is_none(self) -> None:
        assert multiples(f32([MOST, -MOST, 1])) is not None
        assert multiples(f32([MOST + 1, 1])) is None
        assert multiples(f32([1, 1e-30])) is None

    def test_few_values_far_apart_are_a_codebook_that_can_be_coded_by_class(self) -> None:
        far, near = multiples(f32([0, 1, 777] * 9)), multiples(f32([0, 1, 77] * 9))
        assert far is not None
        assert near is not None
        assert isinstance(far.table, Codebook)
        assert far.table.alphabet == 3
        assert isinstance(near.table, UniformTable)
        assert near.table.alphabet == 155


@given(
    st.lists(
        st.lists(st.integers(-(2**21), 2**21), min_size=4, max_size=4), min_size=3, max_size=3
    ),
    st.lists(st.integers(-(2**22), 2**22), min_size=4, max_size=4),
    exponents,
)
def test_sums_on_a_grid_are_exact_in_any_order(
    moves: list[list[int]], start: list[int], exponent: int
) -> None:
    """As long as no sum on the way is beyond 2^24 steps: here 2^22 + 3 * 2^21 at the most."""
    step = 2.0**exponent
    exact = (np.array(start) + np.sum(moves, axis=0)) * step
    vectors = [(np.array(each) * step).astype(np.float32) for each in moves]
    for ordered in itertools.permutations(vectors):
        total = (np.array(start) * step).astype(np.float32)
        for each in ordered:
            total = total + each
        assert total.astype(np.float64).tobytes() == (exact + 0.0).tobytes()
    merged = vectors[0] + vectors[1] + vectors[2]
    assert ((np.array(start) * step).astype(np.float32) + merged == exact).all()
