"""The table of counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl import FrameError
from lossyfl.wire import counts as wire_counts
from lossyfl.wire.histogram import entropy

tables = st.lists(
    st.one_of(st.just(0), st.integers(0, 5), st.integers(0, 2**30)), min_size=2, max_size=300
).filter(any)


@given(counts=tables)
def test_round_trip(counts: list[int]) -> None:
    weights = wire_counts.rounded(np.array(counts))
    data = wire_counts.write(weights)
    read, size = wire_counts.read(memoryview(data + b"more"), len(counts), offset=0)
    assert np.array_equal(read, weights)
    assert size == len(data)


@given(counts=tables)
def test_rounding_keeps_seven_bits(counts: list[int]) -> None:
    exact = np.array(counts)
    weights = wire_counts.rounded(exact).astype(np.float64)
    assert np.all(np.abs(weights - exact) <= exact / 128)
    assert np.array_equal(weights[exact < 128], exact[exact < 128])


def test_rounding_costs_next_to_nothing() -> None:
    counts = np.random.default_rng(0).integers(1000, 100_000, 200)
    weights = wire_counts.rounded(counts).astype(np.float64)
    cross = float(counts @ -np.log2(weights / weights.sum()))
    assert cross <= entropy(counts) * 1.00003


@pytest.mark.parametrize("alphabet", [3, 5, 101, 2001])
def test_at_most_twelve_bits_a_symbol_in_use(alphabet: int) -> None:
    rng = np.random.default_rng(alphabet)
    for zeros in (0.3, 0.9, 0.99):
        draws = rng.integers(0, alphabet, 100_000)
        draws[rng.random(100_000) < zeros] = alphabet // 2
        counts = np.bincount(draws, minlength=alphabet)
        size = len(wire_counts.write(wire_counts.rounded(counts)))
        assert 8 * size <= 12 * np.count_nonzero(counts) + 24


def test_equal_frequencies_take_one_byte() -> None:
    weights, size = wire_counts.read(memoryview(wire_counts.write_equal()), 7, offset=0)
    assert size == 1
    assert set(weights.tolist()) == {1}


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00", b"\x00" * 100, b"\x01", bytes([0b01000000]), bytes([0b01001000, 0])],
    ids=["empty", "no code", "long code", "cut", "no symbol", "cut later"],
)
def test_bad_tables_are_refused(data: bytes) -> None:
    with pytest.raises(FrameError, match="table of counts") as error:
        wire_counts.read(memoryview(data), 5, offset=44)
    assert error.value.offset == 44


def test_more_symbols_than_the_alphabet_are_refused() -> None:
    data = wire_counts.write(np.ones(6, dtype=np.uint64))
    with pytest.raises(FrameError, match="for 5 symbols"):
        wire_counts.read(memoryview(data), 5, offset=0)


def test_totals_that_would_overflow_are_refused() -> None:
    data = wire_counts.write(np.full(40, 1 << 33, dtype=np.uint64))
    with pytest.raises(FrameError, match="too large"):
        wire_counts.read(memoryview(data), 40, offset=0)


@given(data=st.binary(max_size=60), alphabet=st.integers(2, 300))
def test_any_bytes_are_a_table_or_refused(data: bytes, alphabet: int) -> None:
    try:
        weights, size = wire_counts.read(memoryview(data), alphabet, offset=0)
    except FrameError:
        return
    assert size <= len(data)
    assert weights.any()
