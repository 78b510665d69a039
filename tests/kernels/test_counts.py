"""The table of counts, natively and in plain Python."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree

from lossyfl.kernels.counts import read_counts, rounded, table_room, write_counts

tables = st.lists(
    st.one_of(st.just(0), st.integers(0, 5), st.integers(0, 2**33)), min_size=1, max_size=300
)


@given(counts=tables, less=st.integers(0, 40))
def test_same_bytes(counts: list[int], less: int) -> None:
    weights = rounded(np.array(counts))
    room = max(table_room(len(counts)) - (less if less > 20 else 0), 0)
    agree(write_counts, weights, np.zeros(room, np.uint8))


@given(data=st.binary(max_size=60), alphabet=st.integers(1, 300))
def test_same_table_of_any_bytes(data: bytes, alphabet: int) -> None:
    bits = np.frombuffer(data, np.uint8)
    agree(read_counts, bits, np.zeros(alphabet, np.uint64))


@given(counts=tables, cut=st.integers(0, 3), junk=st.binary(max_size=9))
def test_same_table_of_whole_and_cut_ones(counts: list[int], cut: int, junk: bytes) -> None:
    weights, out = rounded(np.array(counts)), np.zeros(table_room(len(counts)), np.uint8)
    size = write_counts(weights, out)
    data = np.concatenate([out[: max(size - cut, 0)], np.frombuffer(junk, np.uint8)])
    *_, read, result = agree(read_counts, data, np.zeros(len(counts), np.uint64))
    if not cut:
        assert (result + 7) // 8 == size
        assert np.array_equal(read, weights)


def test_counts_beyond_all_limits_are_refused() -> None:
    weights = np.array([1 << 40, 2**64 - 1], np.uint64)
    *_, result = agree(write_counts, weights, np.zeros(99, np.uint8))
    assert result == -1
