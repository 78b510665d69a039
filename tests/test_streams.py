"""Addressed randomness: pinned words, independence of addresses, uniformity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from lossyfl import InputError, stream
from lossyfl.streams import Stream

FALSE_ALARM = 1e-6


class TestStream:
    def test_words_are_pinned(self) -> None:
        """A change here changes every training run: it needs a new frame version."""
        assert stream(0).bits(0, 4).tolist() == PINNED
        assert stream(1, purpose="rotate", round=2, device=3) == PINNED_KEY

    @given(start=st.integers(0, 1000), length=st.integers(0, 50), more=st.integers(0, 50))
    def test_entry_sees_the_same_bits_in_any_window(
        self, start: int, length: int, more: int
    ) -> None:
        whole = stream(9).bits(0, start + length + more)
        assert np.array_equal(stream(9).bits(start, start + length), whole[start : start + length])

    @pytest.mark.parametrize("shift", [0, 8, 16, 24])
    def test_bytes_are_uniform(self, shift: int) -> None:
        bits = stream(3).bits(0, 1_000_000)
        counts = np.bincount((bits >> np.uint32(shift)) & np.uint32(255), minlength=256)
        assert stats.chisquare(counts).pvalue > FALSE_ALARM

    def test_pairs_are_uniform(self) -> None:
        bits = stream(4).bits(0, 2_000_000) >> np.uint32(28)
        counts = np.bincount(bits[:-1:2] * 16 + bits[1::2], minlength=256)
        assert stats.chisquare(counts).pvalue > FALSE_ALARM

    def test_addresses_are_independent(self) -> None:
        """Neighbouring rounds, devices, seeds and purposes: no correlation of 10^5 draws."""
        base = stream(5, round=7, device=2)
        others = [
            stream(6, round=7, device=2),
            stream(5, round=8, device=2),
            stream(5, round=7, device=3),
            stream(5, purpose="other", round=7, device=2),
        ]
        n = 100_000
        limit = stats.norm.isf(FALSE_ALARM / 2) / np.sqrt(n)
        mine = base.bits(0, n).astype(np.float64)
        for other in others:
            for lag in (0, 1, 2):
                theirs = other.bits(lag, n + lag).astype(np.float64)
                assert abs(np.corrcoef(mine, theirs)[0, 1]) < limit

    def test_flipping_one_key_bit_flips_half_of_the_output(self) -> None:
        n = 20_000
        base = Stream(123, 456).bits(0, n)
        for bit in range(0, 64, 7):
            for flipped in (Stream(123 ^ 1 << bit, 456), Stream(123, 456 ^ 1 << bit)):
                changed = np.bitwise_count(base ^ flipped.bits(0, n)).sum() / (32 * n)
                assert abs(changed - 0.5) < 0.025

    @pytest.mark.parametrize("seed", [-1, 2**64, 1.5, None])
    def test_bad_seed(self, seed: object) -> None:
        with pytest.raises(InputError, match="address of stream must be"):
            stream(seed)  # type: ignore[arg-type]


PINNED = [1735193379, 314684476, 3550300598, 2801764307]
PINNED_KEY = Stream(a=12008387907513260372, b=3866774131400640416)
