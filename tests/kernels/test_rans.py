"""The letter coder: inverse to itself, near the entropy, the same as a coder of big integers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.kernels.agree import agree

from lossyfl.kernels.model import LETTER_BITS
from lossyfl.kernels.native import natives
from lossyfl.kernels.rans import digit_table, gather, pop_segments, push_segments
from lossyfl.wire.model import Model, build, cost

Bytes = NDArray[np.uint8]
CASES = [(2, 8), (3, 5), (4, 4), (5, 3), (6, 3), (11, 2), (16, 2), (200, 1), (256, 1)]


def sample(seed: int, alphabet: int, group: int, count: int) -> tuple[Model, Bytes]:
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.full(alphabet, 0.3))
    symbols = rng.choice(alphabet, count, p=share).astype(np.uint8)
    counts = np.bincount(symbols, minlength=alphabet)
    counts[rng.integers(0, alphabet, 2)] += 1  # so that two are in use at least
    if np.count_nonzero(counts) < 2:
        counts[:2] += 1
    return build(counts.astype(np.uint64), group), symbols


def encode(
    model: Model, symbols: Bytes, alphabet: int, share: int, filler: int = 0
) -> tuple[Bytes, list[int]]:
    """The same words natively and by the reference."""
    count = -(-len(symbols) // (share * model.group))
    width = 2 * (share + 9)
    *_, words, first, result = agree(
        push_segments,
        symbols,
        alphabet,
        model.group,
        filler,
        model.frequencies,
        share,
        1,
        np.zeros(count * width, np.uint8),
        np.zeros(count, np.int64),
    )
    assert result == 0
    parts = [words[i * width + at : (i + 1) * width] for i, at in enumerate(first.tolist())]
    for version in natives(push_segments):
        others, begins = np.zeros(count * width, np.uint8), np.zeros(count, np.int64)
        version(symbols, alphabet, model.group, filler, model.frequencies, share, 1, others, begins)
        assert begins.tolist() == first.tolist()
    return np.concatenate(parts), [0, *np.cumsum([len(part) // 2 for part in parts]).tolist()]


def decode(
    model: Model, words: Bytes, edges: list[int], alphabet: int, share: int, count: int
) -> tuple[int, Bytes]:
    row = np.arange(alphabet, dtype=np.uint8)
    *_, out, bad = agree(
        pop_segments,
        words,
        np.array(edges, np.int64),
        model.frequencies,
        row,
        alphabet,
        model.group,
        share,
        1,
        np.zeros(count, np.uint8),
        good=-1,
    )
    return bad, out


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


class TestPush:
    @given(
        seed=st.integers(0, 10**6), case=st.sampled_from(CASES), fewer=st.integers(0, 7),
        count=st.one_of(st.integers(1, 100), st.integers(3000, 3500)),
        share=st.sampled_from([4, 16, 100, 4000]),
    )  # fmt: skip
    def test_round_trip(
        self, seed: int, case: tuple[int, int], fewer: int, count: int, share: int
    ) -> None:
        alphabet, group = case[0], max(1, case[1] - fewer)
        model, symbols = sample(seed, alphabet, group, count)
        words, edges = encode(model, symbols, alphabet, share, int(symbols[0]))
        bad, out = decode(model, words, edges, alphabet, share, count)
        assert bad == -1
        assert np.array_equal(out, symbols)

    @given(seed=st.integers(0, 10**6), alphabet=st.integers(2, 256), count=st.integers(1, 200))
    def test_same_words_as_the_textbook(self, seed: int, alphabet: int, count: int) -> None:
        model, letters = sample(seed, alphabet, 1, count)
        words, _ = encode(model, letters, alphabet, count)
        states, expected = push_slowly(model, letters.tolist())
        halves = [half for state in states for half in (state & 0xFFFF, state >> 16)]
        assert words.view("<u2").tolist() == halves + expected

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
        model, letters = sample(alphabet, alphabet, 1, 100_000)
        words, _ = encode(model, letters, alphabet, len(letters))
        needed = cost(model, np.bincount(letters, minlength=alphabet)) / 8
        assert len(words) <= needed * 1.001 + 16

    @pytest.mark.parametrize(
        ("alphabet", "group", "filler", "share", "room", "segments"),
        [
            (4, 3, 0, 100, 999, 1),
            (5, 2, 0, 100, 999, 1),
            (5, -1, 0, 100, 999, 1),
            (5, 3, 256, 100, 999, 1),
            (5, 3, -1, 100, 999, 1),
            (5, 3, 0, 0, 999, 1),
            (5, 3, 0, -4, 999, 1),
            (5, 3, 0, 99, 999, 1),
            (5, 3, 0, 2**62, 999, 1),
            (5, 3, 0, 100, 216, 1),
            (5, 3, 0, 100, 999, 0),
            (5, 3, 0, 100, 999, 2),
        ],
    )
    def test_sizes_that_do_not_fit_are_refused(
        self, alphabet: int, group: int, filler: int, share: int, room: int, segments: int
    ) -> None:
        model, symbols = sample(0, 5, 3, 300)
        for version in natives(push_segments):
            words, first = np.zeros(room, np.uint8), np.zeros(segments, np.int64)
            assert (
                version(symbols, alphabet, group, filler, model.frequencies, share, 1, words, first)
                == -1
            )

    def test_symbols_that_have_no_frequency_stay_within_the_words(self) -> None:
        model, _ = sample(0, 5, 3, 300)
        symbols = np.full(300, 255, np.uint8)
        for version in natives(push_segments):
            words, first = np.full(400, 7, np.uint8), np.zeros(1, np.int64)
            assert version(symbols, 5, 3, 0, model.frequencies, 100, 1, words[100:318], first) == 0
            assert 0 <= first[0] <= 218
            assert (words[:100] == 7).all()
            assert (words[318:] == 7).all()


class TestPop:
    @given(seed=st.integers(0, 10**6), place=st.integers(0, 10**6), change=st.integers(1, 2**8 - 1))
    def test_a_changed_byte_is_noticed_or_gives_symbols_of_the_model(
        self, seed: int, place: int, change: int
    ) -> None:
        model, symbols = sample(seed, 20, 1, 300)
        words, edges = encode(model, symbols, 20, 300)
        words[place % len(words)] ^= np.uint8(change)
        bad, out = decode(model, words, edges, 20, 300, 300)
        assert bad == 0 or not np.array_equal(out, symbols)
        if bad < 0:
            assert np.all(model.frequencies[out] > 0)

    @given(seed=st.integers(0, 10**6), cut=st.integers(1, 50))
    def test_missing_and_extra_words_are_noticed(self, seed: int, cut: int) -> None:
        model, symbols = sample(seed, 20, 1, 300)
        words, edges = encode(model, symbols, 20, 300)
        assert decode(model, words, [0, max(edges[1] - cut, 0)], 20, 300, 300)[0] == 0
        longer = np.concatenate([words, np.zeros(2 * cut, np.uint8)])
        assert decode(model, longer, [0, len(longer) // 2], 20, 300, 300)[0] == 0

    @given(data=st.binary(max_size=400), case=st.sampled_from(CASES), count=st.integers(1, 300))
    def test_any_bytes_are_the_same(self, data: bytes, case: tuple[int, int], count: int) -> None:
        model, _ = sample(1, *case, 300)
        decode(model, np.frombuffer(data, np.uint8), [0, len(data) // 2], case[0], 300, count)

    def test_the_bad_segment_is_named(self) -> None:
        model, symbols = sample(1, 10, 1, 400)
        words, edges = encode(model, symbols, 10, 100)
        words[2 * edges[2] + 2 : 2 * edges[2] + 4] = 0  # the upper half of a state: below 2^16
        assert decode(model, words, edges, 10, 100, 400)[0] == 2

    @given(case=st.sampled_from(CASES), entries=st.integers(1, 200), seed=st.integers(0, 10**6))
    def test_values_come_straight_from_letters(
        self, case: tuple[int, int], entries: int, seed: int
    ) -> None:
        model, symbols = sample(seed, *case, entries)
        words, edges = encode(model, symbols, case[0], 300, int(symbols[0]))
        row = np.random.default_rng(seed).normal(size=case[0]).astype(np.float32)
        *_, out, bad = agree(
            pop_segments,
            words,
            np.array(edges),
            model.frequencies,
            row,
            *case,
            300,
            1,
            np.zeros(entries, np.float32),
            good=-1,
        )
        assert bad == -1
        assert np.array_equal(out, row[symbols])

    @pytest.mark.parametrize(
        "edges", [[], [0], [0, 10**9], [-1, 40], [0, 40, 20], [-(2**63), 2**63 - 1], [0, 2**62]]
    )
    @pytest.mark.parametrize("share", [100, 0, -1, 2**62, 99])
    def test_edges_and_shares_that_do_not_fit(self, edges: list[int], share: int) -> None:
        model, symbols = sample(0, 5, 3, 300)
        words, _ = encode(model, symbols, 5, 100)
        assert decode(model, words, edges, 5, share, 300)[0] == -2

    def test_frequencies_that_do_not_fill_the_slots(self) -> None:
        model, symbols = sample(0, 5, 3, 300)
        words, edges = encode(model, symbols, 5, 100)
        for other in (2**15, 2**63, 2**64 - 1):
            wrong = model.frequencies.copy()
            wrong[0] = other
            assert decode(Model(3, wrong), words, edges, 5, 100, 300)[0] == -2
        assert decode(model, words, edges, 6, 100, 300)[0] == -2
        assert decode(Model(2, model.frequencies), words, edges, 5, 100, 300)[0] == -2


def test_first_symbol_is_the_highest_digit_and_the_rest_is_filled() -> None:
    letters = gather(np.array([4, 0, 1, 3], np.uint8), 5, 3, 2)
    assert letters.tolist() == [4 * 25 + 0 * 5 + 1, 3 * 25 + 2 * 5 + 2]
    assert digit_table(5, 3)[letters].ravel().tolist() == [4, 0, 1, 3, 2, 2]
