"""Short bodies in one call: the same bytes and values as step by step, and nothing beyond the room."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.helpers import f32
from tests.kernels.agree import agree, natives, refuses

from lossyfl.kernels.short import NOT_SHORT, read_short, room_for, write_short
from lossyfl.types import UniformTable
from lossyfl.wire import body

SEEDS = st.integers(0, 10**6)


def sample(seed: int, alphabet: int, entries: int, spread: float) -> tuple[np.ndarray, np.ndarray]:
    """Symbols, of which two at least are in use, and their counts."""
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(alphabet, spread))
    symbols = rng.choice(alphabet, entries, p=share).astype(np.uint8)
    symbols[:2] = 0, alphabet - 1
    return symbols, np.bincount(symbols, minlength=alphabet)


@given(
    seed=SEEDS,
    alphabet=st.integers(2, 12) | st.integers(2, 256),
    entries=st.integers(2, 3000),
    spread=st.sampled_from([0.05, 1.0, 100.0]),
    missing=st.integers(0, 3),
)
def test_the_bytes_are_those_of_one_step_after_the_other(
    seed: int, alphabet: int, entries: int, spread: float, missing: int
) -> None:
    symbols, counts = sample(seed, alphabet, entries, spread)
    words = np.zeros(room_for(entries, alphabet) - 2 * missing, np.uint8)
    *_, words, begin = agree(write_short, symbols, counts, 10**9, words)
    plan = body.plan(counts)
    if begin >= 0:
        slowly = body.encode(symbols, alphabet, counts, plan, 1)
        assert words[begin:].tobytes() == b"".join(slowly)
        assert not words[: begin - 2].any()
    refused = agree(write_short, symbols, counts, plan.nbytes, words)[-1]
    assert refused == NOT_SHORT


@given(
    seed=SEEDS,
    alphabet=st.integers(3, 12) | st.integers(3, 256),
    entries=st.integers(2, 2000),
    change=st.none() | st.tuples(st.integers(0, 10**6), st.integers(1, 255)),
    cut=st.sampled_from([0, 0, 0, 1, 2, 5]),
)
def test_values_are_read_back_or_nothing_is(
    seed: int, alphabet: int, entries: int, change: tuple[int, int] | None, cut: int
) -> None:
    symbols, counts = sample(seed, alphabet, entries, 1.0)
    words = np.zeros(2 * room_for(entries, 256), np.uint8)
    begin = write_short(symbols, counts, 10**9, words)
    assume(begin >= 0)
    data = words[begin : len(words) - cut].copy()
    if change is not None:
        data[change[0] % len(data)] ^= np.uint8(change[1])
    low = 0.0 if alphabet % 2 else 0.25
    out = np.zeros(entries, np.float32)
    *_, out, result = agree(read_short, data, alphabet, low, 2.0, out, good=0)
    if change is None:
        assert (result == 0) == (not cut)
    if result == 0 and change is None:
        table = UniformTable(low=f32([low]), high=f32([2]), alphabet=alphabet)
        assert np.array_equal(out, table.rows(0, 1)[0][symbols])


@given(data=st.binary(max_size=200), alphabet=st.integers(-1, 300), entries=st.integers(0, 40))
def test_any_bytes_are_the_same(data: bytes, alphabet: int, entries: int) -> None:
    array, out = np.frombuffer(data, np.uint8), np.zeros(entries, np.float32)
    agree(read_short, array, alphabet, 0.0, 1.0, out, good=0)


ONE = np.zeros(50, np.uint8)
LONG = np.tile(np.arange(5, dtype=np.uint8), 60_000)
MANY = np.random.default_rng(0).permutation(
    np.arange(256, dtype=np.uint8).repeat(2 ** (np.arange(256) // 32))
)


@pytest.mark.parametrize(
    ("symbols", "counts"),
    [
        (ONE, np.array([50, 0, 0])),
        (LONG, np.bincount(LONG)),
        (MANY, np.bincount(MANY) ** 4),
        (ONE[:0], np.array([1, 1])),
        (ONE, np.ones(257, np.int64)),
        (ONE, np.ones(1, np.int64)),
    ],
    ids=["one symbol", "segments", "wide", "empty", "alphabet", "no alphabet"],
)
def test_what_is_not_short_is_left_to_others(symbols: np.ndarray, counts: np.ndarray) -> None:
    assert agree(write_short, symbols, counts, 10**9, np.zeros(10**6, np.uint8))[-1] == NOT_SHORT


@pytest.mark.parametrize("counts", [[-1, 4], [0, 0], [2**62, 2**62]])
def test_impossible_counts_are_refused(counts: list[int]) -> None:
    refuses(write_short, np.zeros(9, np.uint8), np.array(counts), 99, np.zeros(99 * 2, np.uint8))


def test_symbols_beyond_the_alphabet_stay_within_the_words() -> None:
    for version in natives(write_short):
        words = np.full(2000, 7, np.uint8)
        begin = version(
            np.full(300, 255, np.uint8), np.array([100, 100, 100]), 10**9, words[100:1900]
        )
        assert 0 <= begin < 1800
        assert (words[:100] == 7).all()
        assert (words[1900:] == 7).all()
