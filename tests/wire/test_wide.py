"""The coder of large alphabets."""

from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lossyfl.types import Symbols, symbol_type
from lossyfl.wire import wide
from lossyfl.wire.model import Model, build, cost


def encode(model: Model, symbols: Symbols, share: int) -> tuple[NDArray[np.uint32], list[int]]:
    count = ceil(len(symbols) / share)
    rows = np.empty((count, share + 9), dtype=np.uint32)
    first = np.empty(count, dtype=np.int64)
    wide.Encoder.of(model).segments(symbols, share, rows, first)
    parts = [row[start:] for row, start in zip(rows, first, strict=True)]
    return np.concatenate(parts), [0, *np.cumsum([len(part) for part in parts]).tolist()]


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
        seed=st.integers(0, 10**6),
        alphabet=st.integers(2, 65_536),
        count=st.integers(1, 300),
        share=st.sampled_from([4, 64, 300]),
    )
    def test_round_trip(self, seed: int, alphabet: int, count: int, share: int) -> None:
        model, symbols = sample(seed, alphabet, count)
        words, edges = encode(model, symbols, share)
        out = np.empty_like(symbols)
        assert wide.Decoder.of(model).segments(words, np.array(edges), share, out) == -1
        assert np.array_equal(out, symbols)

    @given(seed=st.integers(0, 10**6), cut=st.integers(1, 30))
    def test_missing_and_extra_words_are_noticed(self, seed: int, cut: int) -> None:
        model, symbols = sample(seed, 1000, 300)
        words, edges = encode(model, symbols, 300)
        decoder, out = wide.Decoder.of(model), np.empty_like(symbols)
        shorter = np.array([0, max(edges[1] - cut, 0)])
        assert decoder.segments(words, shorter, 300, out) == 0
        longer = np.concatenate([words, np.zeros(cut, np.uint32)])
        assert decoder.segments(longer, np.array([0, len(longer)]), 300, out) == 0

    @pytest.mark.parametrize("alphabet", [300, 2001, 65_536])
    def test_length_is_the_cost_of_the_model(self, alphabet: int) -> None:
        model, symbols = sample(3, alphabet, 100_000)
        words, _ = encode(model, symbols, len(symbols))
        needed = cost(model, np.bincount(symbols, minlength=alphabet)) / 32
        assert len(words) <= needed * 1.0001 + 8
