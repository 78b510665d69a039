"""The coder of large alphabets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.kernels.agree import agree

from lossyfl.kernels.wide import pop_wide, push_wide, starts_of
from lossyfl.types import Symbols, symbol_type
from lossyfl.wire.model import Model, build, cost

Bytes = NDArray[np.uint8]


def encode(model: Model, symbols: Symbols, share: int) -> tuple[Bytes, list[int]]:
    count = -(-len(symbols) // share)
    width, starts = 4 * (share + 9), starts_of(model.frequencies)
    words, first = np.zeros(count * width, np.uint8), np.zeros(count, np.int64)
    *_, words, first, result = agree(push_wide, symbols, starts, share, 1, words, first)
    assert result == 0
    parts = [words[i * width + at : (i + 1) * width] for i, at in enumerate(first.tolist())]
    return np.concatenate(parts), [0, *np.cumsum([len(part) // 4 for part in parts]).tolist()]


def decode(
    model: Model, words: Bytes, edges: list[int], share: int, count: int
) -> tuple[int, Symbols]:
    alphabet = len(model.frequencies)
    row = np.arange(alphabet, dtype=symbol_type(alphabet))
    starts = starts_of(model.frequencies)
    *_, out, bad = agree(
        pop_wide,
        words,
        np.array(edges, np.int64),
        starts,
        row,
        share,
        1,
        np.zeros(count, row.dtype),
        good=-1,
    )
    return bad, out


def sample(seed: int, alphabet: int, count: int) -> tuple[Model, Symbols]:
    rng = np.random.default_rng(seed)
    middle = alphabet // 2
    spread = rng.choice([0.5, alphabet / 50, alphabet / 3])
    symbols = np.clip(rng.normal(middle, spread, count).round(), 0, alphabet - 1)
    symbols = symbols.astype(symbol_type(alphabet))
    counts = np.bincount(symbols, minlength=alphabet)
    counts[[0, -1]] += 1
    return build(counts.astype(np.uint64), 0), symbols


class TestWide:
    @given(
        seed=st.integers(0, 10**6), alphabet=st.integers(2, 65_536), count=st.integers(1, 300),
        share=st.sampled_from([4, 64, 300]),
    )  # fmt: skip
    def test_round_trip(self, seed: int, alphabet: int, count: int, share: int) -> None:
        model, symbols = sample(seed, alphabet, count)
        words, edges = encode(model, symbols, share)
        bad, out = decode(model, words, edges, share, count)
        assert bad == -1
        assert np.array_equal(out, symbols)

    @given(seed=st.integers(0, 10**6), cut=st.integers(1, 30))
    def test_missing_and_extra_words_are_noticed(self, seed: int, cut: int) -> None:
        model, symbols = sample(seed, 1000, 300)
        words, edges = encode(model, symbols, 300)
        assert decode(model, words, [0, max(edges[1] - cut, 0)], 300, 300)[0] == 0
        longer = np.concatenate([words, np.zeros(4 * cut, np.uint8)])
        assert decode(model, longer, [0, len(longer) // 4], 300, 300)[0] == 0

    @given(data=st.binary(max_size=400), alphabet=st.integers(2, 3000), count=st.integers(1, 99))
    def test_any_bytes_are_the_same(self, data: bytes, alphabet: int, count: int) -> None:
        model, _ = sample(1, alphabet, 300)
        decode(model, np.frombuffer(data, np.uint8), [0, len(data) // 4], 300, count)

    @pytest.mark.parametrize("alphabet", [300, 2001, 65_536])
    def test_length_is_the_cost_of_the_model(self, alphabet: int) -> None:
        model, symbols = sample(3, alphabet, 100_000)
        words, _ = encode(model, symbols, len(symbols))
        needed = cost(model, np.bincount(symbols, minlength=alphabet)) / 8
        assert len(words) <= needed * 1.0001 + 32

    @pytest.mark.parametrize(
        "edges", [[], [0], [0, 10**9], [-1, 40], [0, 40, 20], [-(2**63), 2**63 - 1]]
    )
    @pytest.mark.parametrize("share", [100, 0, -1, 2**62, 99])
    def test_sizes_that_do_not_fit(self, edges: list[int], share: int) -> None:
        model, symbols = sample(0, 300, 100)
        words, _ = encode(model, symbols, 100)
        assert decode(model, words, edges, share, 100)[0] == -2

    def test_symbols_without_a_frequency_are_refused(self) -> None:
        starts = np.array([0, 0, 1 << 28], np.uint32)
        for symbols in ([1, 0], [1, 2], [255]):
            made = (
                np.array(symbols, np.uint8), starts, 4, 1, np.zeros(99, np.uint8), np.zeros(1, np.int64),
            )  # fmt: skip
            assert agree(push_wide, *made)[-1] == -1

    def test_starts_that_are_none_are_refused(self) -> None:
        for starts in ([0], [], [1, 1 << 28], [0, 5], [0, 1 << 29, 1 << 28]):
            made = (
                np.zeros(40, np.uint8), np.array([0, 10]), np.array(starts, np.uint32),
                np.zeros(max(len(starts) - 1, 0), np.uint8), 4, 1, np.zeros(4, np.uint8),
            )  # fmt: skip
            assert agree(pop_wide, *made, good=-1)[-1] == -2
