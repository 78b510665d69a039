"""The coded symbols of a frame: they come back, in about as many bytes as planned, or are refused."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl.errors import FrameError, InputError
from lossyfl.types import Symbols, symbol_type
from lossyfl.wire import body
from lossyfl.wire.histogram import count, entropy


def drawn(alphabet: int, entries: int, seed: int) -> Symbols:
    """Symbols of which low ones are frequent, and some may not occur."""
    rng = np.random.default_rng(seed)
    return (alphabet * rng.random(entries) ** 4).astype(symbol_type(alphabet))


def coded(symbols: Symbols, alphabet: int, threads: int = 1) -> tuple[body.Plan, bytes]:
    counts = count(symbols, alphabet)
    plan = body.plan(counts)
    return plan, b"".join(body.encode(symbols, alphabet, counts, plan, threads))


@given(
    alphabet=st.sampled_from([2, 3, 5, 16, 17, 256, 257, 5000]),
    entries=st.integers(1, 3000),
    seed=st.integers(0, 99),
)
def test_symbols_come_back(alphabet: int, entries: int, seed: int) -> None:
    symbols = drawn(alphabet, entries, seed)
    _, data = coded(symbols, alphabet)
    opened = body.open_coded(memoryview(data), alphabet, entries, offset=0)
    assert np.array_equal(opened.symbols(1), symbols)
    row = np.random.default_rng(seed).normal(size=alphabet).astype(np.float32)
    assert np.array_equal(opened.values(row, 1), row[symbols])


@pytest.mark.parametrize("alphabet", [3, 5, 300])
def test_any_number_of_threads_gives_the_same_bytes(alphabet: int) -> None:
    symbols = drawn(alphabet, 700_000, 1)
    plan, data = coded(symbols, alphabet)
    assert plan.segments > 1
    assert coded(symbols, alphabet, threads=2)[1] == data
    opened = body.open_coded(memoryview(data), alphabet, len(symbols), offset=0)
    assert np.array_equal(opened.symbols(2), symbols)


@pytest.mark.parametrize("alphabet", [3, 17, 300])
def test_the_plan_says_the_size_and_the_size_is_near_the_entropy(alphabet: int) -> None:
    symbols = drawn(alphabet, 200_000, 2)
    plan, data = coded(symbols, alphabet)
    assert abs(len(data) - plan.nbytes) < 0.003 * plan.nbytes
    least = entropy(count(symbols, alphabet)) / 8
    assert least < len(data) < 1.005 * least + 2 * alphabet + 32 * plan.segments


def test_equal_symbols_need_no_segment() -> None:
    plan, data = coded(np.full(10**6, 2, np.uint8), 5)
    assert plan.segments == 0
    assert len(data) < 10
    opened = body.open_coded(memoryview(data), 5, 10**6, offset=0)
    assert (opened.symbols(1) == 2).all()


def test_counts_that_are_none_are_refused() -> None:
    with pytest.raises(InputError, match="counts of Quantized"):
        body.plan(np.array([3, -1]))


@given(at=st.integers(0, 400), bit=st.integers(0, 7), cut=st.integers(0, 400))
def test_other_bytes_give_symbols_of_the_alphabet_or_an_error(at: int, bit: int, cut: int) -> None:
    _, data = coded(drawn(5, 2000, 3), 5)
    damaged = bytearray(data[: max(1, len(data) - cut)] if cut % 3 == 0 else data)
    damaged[at % len(damaged)] ^= 1 << bit
    try:
        symbols = body.open_coded(memoryview(damaged), 5, 2000, offset=0).symbols(1)
    except FrameError:
        return
    assert len(symbols) == 2000
    assert symbols.max() < 5
