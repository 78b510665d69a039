"""Frequencies: exact sums, every used letter codable, little waste."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl.kernels.plan import TOLERANCE
from lossyfl.wire import counts as wire_counts
from lossyfl.wire.histogram import entropy
from lossyfl.wire.model import LETTER_BITS, WIDE_BITS, build, choose, cost, normalise

weights = st.lists(
    st.one_of(st.just(0), st.integers(1, 50), st.integers(1, 2**26)), min_size=2, max_size=200
).filter(any)


class TestNormalise:
    @given(weights=weights, bits=st.sampled_from([8, 12, LETTER_BITS, 16, WIDE_BITS]))
    def test_sum_is_exact_and_used_letters_have_a_slot(self, weights: list[int], bits: int) -> None:
        given_weights = np.array(weights, dtype=np.uint64)
        frequencies = normalise(given_weights, bits)
        assert int(frequencies.sum()) == 1 << bits
        assert np.array_equal(frequencies > 0, given_weights > 0)

    def test_proportions_that_fit_are_kept(self) -> None:
        assert normalise(np.array([1, 2, 5], dtype=np.uint64), 3).tolist() == [1, 2, 5]
        assert normalise(np.array([1, 1], dtype=np.uint64), 15).tolist() == [1 << 14, 1 << 14]

    def test_65536_equal_symbols(self) -> None:
        frequencies = normalise(np.ones(65_536, dtype=np.uint64), WIDE_BITS)
        assert set(frequencies.tolist()) == {4096}

    def test_largest_total_does_not_overflow(self) -> None:
        heavy = np.full(16, wire_counts.MAX_TOTAL // 16, dtype=np.uint64)
        assert set(normalise(heavy, WIDE_BITS).tolist()) == {1 << 24}


class TestBuild:
    @given(weights=weights.filter(lambda w: len(w) <= 16), group=st.integers(1, 2))
    def test_letters_are_near_products(self, weights: list[int], group: int) -> None:
        given_weights = np.array(weights, dtype=np.uint64)
        model = build(given_weights, group)
        share = normalise(given_weights, 16) / 2**16
        joint = share if group == 1 else np.multiply.outer(share, share).ravel()
        # The tail of letters that get a whole slot is all that the others can lose.
        lost = np.count_nonzero(joint * 2**LETTER_BITS < 1)
        assert np.all(np.abs(model.frequencies - joint * 2**LETTER_BITS) <= lost + 1.01)


class TestChoose:
    @pytest.mark.parametrize("zeros", [0.3, 0.5, 0.9, 0.95, 0.99, 0.999])
    @pytest.mark.parametrize("alphabet", [2, 3, 5, 6, 11, 101, 255, 2001, 65_536])
    def test_waste_is_within_the_tolerance(self, alphabet: int, zeros: float) -> None:
        counts = np.full(alphabet, (1 - zeros) / (alphabet - 1)) * 10**7
        counts[alphabet // 2] = zeros * 10**7
        counts = counts.astype(np.int64)
        model, bits = choose(wire_counts.rounded(counts), counts)
        assert bits <= entropy(counts) * (1 + TOLERANCE) + 32
        assert bits == cost(model, counts)

    def test_dense_symbols_take_the_largest_letters(self) -> None:
        counts = np.full(5, 200_000)
        model, _ = choose(wire_counts.rounded(counts), counts)
        assert model.group == 3

    def test_sparse_symbols_take_smaller_letters(self) -> None:
        counts = np.array([500, 4500, 10**6, 4500, 500])
        model, _ = choose(wire_counts.rounded(counts), counts)
        assert 0 < model.group < 3

    def test_impossible_symbols_cost_infinity(self) -> None:
        model = build(np.array([0, 1, 1], dtype=np.uint64), 1)
        assert cost(model, np.array([1, 1, 1])) == float("inf")
