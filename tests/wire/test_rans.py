"""The letter coder: inverse to itself, near the entropy, the same as a coder of big integers."""

from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from lossyfl.wire import rans
from lossyfl.wire.model import LETTER_BITS, Model, build, cost

Letters = NDArray[np.uint8]


def encode(model: Model, letters: Letters, share: int) -> tuple[NDArray[np.uint16], list[int]]:
    count = ceil(len(letters) / share)
    rows = np.empty((count, share + 9), dtype=np.uint16)
    first = np.empty(count, dtype=np.int64)
    rans.Encoder.of(model).segments(letters, share, rows, first)
    parts = [row[start:] for row, start in zip(rows, first, strict=True)]
    return np.concatenate(parts), [0, *np.cumsum([len(part) for part in parts]).tolist()]


def decode(
    model: Model, words: NDArray[np.uint16], edges: list[int], share: int, count: int
) -> tuple[int, Letters]:
    out = np.empty(count, dtype=np.uint8)
    bad = rans.Decoder.of(model).segments(words, np.array(edges), share, out)
    return bad, out


def sample(seed: int, alphabet: int, count: int) -> tuple[Model, Letters]:
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(alphabet, 0.3))
    letters = rng.choice(alphabet, count, p=share).astype(np.uint8)
    counts = np.bincount(letters, minlength=alphabet)
    counts[rng.integers(0, alphabet, 2)] += 1  # so that two are in use at least
    if np.count_nonzero(counts) < 2:
        counts[:2] += 1
    return build(counts.astype(np.uint64), 1), letters


def push_slowly(model: Model, letters: list[int]) -> tuple[list[int], list[int]]:
    """The textbook recursion on Python integers: states, and words from first to last."""
    f = model.frequencies.tolist()
    start = np.concatenate([[0], np.cumsum(f)]).tolist()
    states, words = [1 << 16] * 4, []
    for i in reversed(range(len(letters))):
        x, s = states[i % 4], letters[i]
        if x >= f[s] << (32 - LETTER_BITS):
            words.append(x & 0xFFFF)
            x >>= 16
        states[i % 4] = ((x // f[s]) << LETTER_BITS) + start[s] + x % f[s]
    return states, words[::-1]


class TestEncoder:
    @given(
        seed=st.integers(0, 10**6),
        alphabet=st.integers(2, 256),
        count=st.integers(1, 400),
        share=st.sampled_from([4, 16, 100, 400]),
    )
    def test_round_trip(self, seed: int, alphabet: int, count: int, share: int) -> None:
        model, letters = sample(seed, alphabet, count)
        words, edges = encode(model, letters, share)
        bad, out = decode(model, words, edges, share, count)
        assert bad == -1
        assert np.array_equal(out, letters)

    @given(seed=st.integers(0, 10**6), alphabet=st.integers(2, 256), count=st.integers(1, 200))
    def test_same_words_as_the_textbook(self, seed: int, alphabet: int, count: int) -> None:
        model, letters = sample(seed, alphabet, count)
        words, _ = encode(model, letters, count)
        states, expected = push_slowly(model, letters.tolist())
        halves = [half for state in states for half in (state & 0xFFFF, state >> 16)]
        assert words.tolist() == halves + expected

    def test_reciprocal_is_exact_at_every_edge(self) -> None:
        """x m >> (32 + bits) = x // f, and x m < 2^64, for x around multiples of f."""
        for f in [*range(1, 300), *range(300, 1 << LETTER_BITS, 97), (1 << LETTER_BITS) - 1]:
            m = -(-(1 << (32 + LETTER_BITS)) // f)
            limit = f << (32 - LETTER_BITS)
            quotients = {0, 1, 2, limit // f - 1, limit // f // 2, limit // f // 3}
            for x in {q * f + r for q in quotients for r in (0, 1, f - 1)}:
                if x < limit:
                    assert x * m < 1 << 64
                    assert (x * m) >> (32 + LETTER_BITS) == x // f

    @pytest.mark.parametrize("alphabet", [2, 5, 125, 256])
    def test_length_is_the_cost_of_the_model(self, alphabet: int) -> None:
        model, letters = sample(alphabet, alphabet, 100_000)
        words, _ = encode(model, letters, len(letters))
        needed = cost(model, np.bincount(letters, minlength=alphabet)) / 16
        assert len(words) <= needed * 1.001 + 8


class TestDecoder:
    @given(
        seed=st.integers(0, 10**6), place=st.integers(0, 10**6), change=st.integers(1, 2**16 - 1)
    )
    def test_a_changed_word_is_noticed_or_gives_letters_of_the_model(
        self, seed: int, place: int, change: int
    ) -> None:
        model, letters = sample(seed, 20, 300)
        words, edges = encode(model, letters, 300)
        words[place % len(words)] ^= np.uint16(change)
        bad, out = decode(model, words, edges, 300, 300)
        assert bad == 0 or not np.array_equal(out, letters)
        if bad < 0:
            assert np.all(model.frequencies[out] > 0)

    @given(seed=st.integers(0, 10**6), cut=st.integers(1, 50))
    def test_missing_and_extra_words_are_noticed(self, seed: int, cut: int) -> None:
        model, letters = sample(seed, 20, 300)
        words, edges = encode(model, letters, 300)
        assert decode(model, words[:-cut], [0, max(edges[1] - cut, 0)], 300, 300)[0] == 0
        longer = np.concatenate([words, np.zeros(cut, np.uint16)])
        assert decode(model, longer, [0, len(longer)], 300, 300)[0] == 0

    def test_the_bad_segment_is_named(self) -> None:
        model, letters = sample(1, 10, 400)
        words, edges = encode(model, letters, 100)
        words[edges[2] + 1] = 0  # the upper half of a state: below 2^16
        assert decode(model, words, edges, 100, 400)[0] == 2
