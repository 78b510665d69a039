"""Positional packing."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl import FrameError
from lossyfl.types import symbol_type
from lossyfl.wire import radix


@given(alphabet=st.integers(2, 65_536), entries=st.integers(1, 300), seed=st.integers(0, 10**6))
def test_round_trip_in_the_stated_size(alphabet: int, entries: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    symbols = rng.integers(0, alphabet, entries).astype(symbol_type(alphabet))
    data = radix.pack(symbols, alphabet)
    assert len(data) == radix.nbytes(entries, alphabet)
    out = radix.unpack(memoryview(data), entries, alphabet, offset=0)
    assert out.dtype == symbols.dtype
    assert np.array_equal(out, symbols)


def test_every_leftover_length() -> None:
    for entries in range(1, 130):
        symbols = np.full(entries, 4, dtype=np.uint8)
        data = radix.pack(symbols, 5)
        assert np.array_equal(radix.unpack(memoryview(data), entries, 5, offset=0), symbols)


def test_long_vectors_are_packed_in_chunks() -> None:
    symbols = np.random.default_rng(0).integers(0, 3, 3_000_001).astype(np.uint8)
    data = radix.pack(symbols, 3)
    assert np.array_equal(radix.unpack(memoryview(data), len(symbols), 3, offset=0), symbols)


@pytest.mark.parametrize(("entries", "place"), [(27, 0), (60, 16)])
def test_symbols_outside_the_alphabet_are_refused(entries: int, place: int) -> None:
    data = bytearray(radix.pack(np.zeros(entries, dtype=np.uint8), 5))
    data[place:] = b"\xff" * (len(data) - place)
    with pytest.raises(FrameError, match="a number below 5") as error:
        radix.unpack(memoryview(bytes(data)), entries, 5, offset=100)
    assert error.value.offset == 100 + place


def test_wrong_length_is_refused() -> None:
    with pytest.raises(FrameError, match="8 bytes of packed symbols"):
        radix.unpack(memoryview(bytes(9)), 27, 5, offset=0)


def test_a_frame_reads_packed_symbols_as_it_does_coded_ones() -> None:
    symbols = np.array([4, 0, 2, 2], dtype=np.uint8)
    packed = memoryview(radix.pack(symbols, 5))
    coded = radix.open_coded(packed, 5, len(symbols), offset=0)
    assert np.array_equal(coded.symbols(1), symbols)
    row = np.linspace(-1, 1, 5, dtype=np.float32)
    assert np.array_equal(coded.values(row, 1), row[symbols])
    assert coded.entropy() == 4 * np.log2(5)
