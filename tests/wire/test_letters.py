"""Symbols to letters and back."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import f32

from lossyfl.wire.letters import digit_table, gather, scatter

CASES = [(2, 8), (3, 5), (4, 4), (5, 3), (6, 3), (11, 2), (16, 2), (200, 1)]


@given(
    case=st.sampled_from(CASES), entries=st.integers(1, 200), seed=st.integers(0, 10**6),
    fewer=st.integers(0, 7),
)  # fmt: skip
def test_round_trip(case: tuple[int, int], entries: int, seed: int, fewer: int) -> None:
    alphabet, group = case[0], max(1, case[1] - fewer)
    symbols = np.random.default_rng(seed).integers(0, alphabet, entries).astype(np.uint8)
    letters = np.empty(-(-entries // group), dtype=np.uint8)
    gather(symbols, alphabet, group, 1, letters)
    out = np.empty_like(symbols)
    scatter(letters, digit_table(alphabet, group), out)
    assert np.array_equal(out, symbols)


def test_first_symbol_is_the_highest_digit_and_the_rest_is_filled() -> None:
    letters = np.empty(2, dtype=np.uint8)
    gather(np.array([4, 0, 1, 3], dtype=np.uint8), 5, 3, 2, letters)
    assert letters.tolist() == [4 * 25 + 0 * 5 + 1, 3 * 25 + 2 * 5 + 2]


def test_values_come_straight_from_letters() -> None:
    row = f32([-1, 0, 1])
    out = np.empty(5, dtype=np.float32)
    scatter(np.array([0 * 3 + 2, 4, 2 * 3], dtype=np.uint8), row[digit_table(3, 2)], out)
    assert out.tolist() == [-1, 1, 0, 0, 1]
