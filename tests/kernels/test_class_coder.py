"""Classes of keys, their tables, and rANS through all of them, natively and by NumPy."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree, natives

from lossyfl.kernels.class_coder import pop_classes, push_classes
from lossyfl.kernels.class_tables import (
    choose_classes,
    count_at,
    make_tables,
    nearest_place,
    open_tables,
    place_of,
)
from lossyfl.kernels.levels import KEYS
from lossyfl.kernels.model import MAX_LETTERS
from lossyfl.kernels.native import reference

ALPHABETS = [2, 3, 4, 5, 8, 15, 69, 256]


def classes_of(seed: int, alphabet: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Symbols of several classes one after the other, of very different sizes; where each begins."""
    rng = np.random.default_rng(seed)
    parts = [
        rng.choice(
            alphabet, int(rng.choice([1, 2, 7, 60, 500])), p=rng.dirichlet(np.full(alphabet, 0.2))
        )
        for _ in range(classes)
    ]
    starts = np.cumsum([0, *map(len, parts)])
    return np.concatenate(parts).astype(np.uint8), starts


def tables_of(
    symbols: np.ndarray, starts: np.ndarray, alphabet: int, bits: int
) -> tuple[np.ndarray, ...]:
    """Weights, numbers, commonest symbols, groups and frequencies of classes."""
    classes = len(starts) - 1
    own = [np.bincount(symbols[a:b], minlength=alphabet) for a, b in pairwise(starts)]
    made = agree(
        make_tables, np.concatenate(own), alphabet, bits, np.zeros(classes * alphabet, np.uint64),
        np.zeros(classes * (alphabet - 1), np.int64), np.zeros(classes, np.uint8), np.zeros(classes,
        np.uint8), np.zeros(classes * MAX_LETTERS, np.uint64),
    )  # fmt: skip
    assert made[-1] >= 0
    return made[3:-1]


@given(seed=st.integers(0, 10**6), alphabet=st.sampled_from(ALPHABETS), used=st.integers(1, KEYS))
def test_same_classes(seed: int, alphabet: int, used: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = np.zeros(KEYS, np.int64)
    sizes[rng.permutation(KEYS)[:used]] = rng.integers(1, 200, used)
    spread = rng.dirichlet(np.full(alphabet, 0.5), 3)
    keyed = np.concatenate(
        [rng.choice(alphabet, n, p=spread[rng.integers(3)]) for n in sizes]
    ).astype(np.uint8)
    starts = np.cumsum([0, *sizes])
    sums = np.zeros((KEYS + 1) * alphabet, np.int64)
    *_, found, classes, made = agree(
        choose_classes, keyed, starts, alphabet, sums, np.zeros(KEYS, np.uint8)
    )
    assert 1 <= made <= used
    assert (np.diff(classes.astype(int)) >= 0).all()
    assert {classes[k] for k in range(KEYS) if sizes[k]} == set(range(made))
    assert found[-alphabet:].tolist() == np.bincount(keyed, minlength=alphabet).tolist()


@given(count=st.integers(0, 2**34), bits=st.integers(2, 16))
def test_places_of_counts(count: int, bits: int) -> None:
    place = place_of(count, bits)
    assert count_at(place, bits) <= count < count_at(place + 1, bits)
    near = count_at(nearest_place(count, bits), bits)
    assert abs(near - count) <= count / 2**bits


@given(
    seed=st.integers(0, 10**6), alphabet=st.sampled_from(ALPHABETS), classes=st.integers(1, 12),
    bits=st.sampled_from([4, 7]),
)  # fmt: skip
def test_tables_are_what_their_numbers_stand_for(
    seed: int, alphabet: int, classes: int, bits: int
) -> None:
    symbols, starts = classes_of(seed, alphabet, classes)
    weights, numbers, commonest, groups, frequencies = tables_of(symbols, starts, alphabet, bits)
    empty = np.zeros_like(weights), np.zeros_like(frequencies)
    *_, opened, built, result = agree(
        open_tables, numbers, alphabet, bits, np.diff(starts), commonest, groups, *empty
    )
    assert result == 0
    assert np.array_equal(opened, weights)
    assert np.array_equal(built, frequencies)


@given(
    seed=st.integers(0, 10**6), alphabet=st.sampled_from(ALPHABETS), classes=st.integers(1, 5),
    wild=st.integers(0, 10**6),
)  # fmt: skip
def test_any_numbers_are_opened_or_refused_alike(
    seed: int, alphabet: int, classes: int, wild: int
) -> None:
    rng = np.random.default_rng(seed)
    numbers = rng.integers(-wild - 1, wild + 2, classes * (alphabet - 1))
    sizes = rng.integers(0, 2**34, classes) >> int(rng.integers(0, 34))
    commonest, groups = rng.integers(0, alphabet + 1, classes), rng.integers(0, 4, classes)
    agree(
        open_tables, numbers, alphabet, 4, sizes, commonest.astype(np.uint8), groups.astype(np.uint8),
        np.zeros(classes * alphabet, np.uint64), np.zeros(classes * MAX_LETTERS, np.uint64),
    )  # fmt: skip


def push(
    symbols: np.ndarray, starts: np.ndarray, alphabet: int, share: int, threads: int = 1
) -> tuple[np.ndarray, list[int], tuple[np.ndarray, ...]]:
    """The words of all segments and where each begins, the same by all; what they are popped with."""
    _, _, commonest, groups, frequencies = tables_of(symbols, starts, alphabet, 7)
    letters = sum(-(-int(n) // int(g)) for n, g in zip(np.diff(starts), groups, strict=True))
    share = min(share, -(-letters // 4) * 4)
    segments, width = -(-letters // share), 2 * (share + 9)
    found: list[bytes] = []
    coding = symbols, alphabet, starts, groups, commonest, frequencies, share
    for version in (reference(push_classes), *natives(push_classes)):
        words, first = np.zeros(segments * width, np.uint8), np.zeros(segments, np.int64)
        assert version(*coding, 0, threads, words, first) == 0
        parts = [
            words[i * width + at : (i + 1) * width].tobytes() for i, at in enumerate(first.tolist())
        ]
        found.append(b"".join(parts))
    assert len(set(found)) == 1
    edges = [0, *np.cumsum([len(part) // 2 for part in parts]).tolist()]
    return np.frombuffer(found[0], np.uint8), edges, (starts, groups, frequencies, share)


@given(
    seed=st.integers(0, 10**6), alphabet=st.sampled_from(ALPHABETS), classes=st.integers(1, 9),
    share=st.sampled_from([4, 12, 100, 4000]), threads=st.sampled_from([1, 2]),
)  # fmt: skip
def test_round_trip(seed: int, alphabet: int, classes: int, share: int, threads: int) -> None:
    symbols, starts = classes_of(seed, alphabet, classes)
    words, edges, tables = push(symbols, starts, alphabet, share, threads)
    *_, out, bad = agree(
        pop_classes,
        words,
        np.array(edges),
        alphabet,
        *tables,
        0,
        threads,
        np.zeros_like(symbols),
        good=-1,
    )
    assert bad == -1
    assert np.array_equal(out, symbols)


@given(seed=st.integers(0, 10**6), share=st.sampled_from([4, 12, 100]))
def test_segments_are_pushed_in_any_parts(seed: int, share: int) -> None:
    symbols, starts = classes_of(seed, 5, 6)
    words, edges, (starts, groups, frequencies, share) = push(symbols, starts, 5, share)
    commonest = tables_of(symbols, starts, 5, 7)[2]
    for number in range(0, len(edges) - 1, 2):
        count = min(2, len(edges) - 1 - number)
        room, first = np.zeros(count * 2 * (share + 9), np.uint8), np.zeros(count, np.int64)
        for version in (reference(push_classes), *natives(push_classes)):
            coding = symbols, 5, starts, groups, commonest, frequencies, share
            assert version(*coding, number, 1, room, first) == 0
            rows = zip(room.reshape(count, -1), first.tolist(), strict=True)
            own = np.concatenate([row[begin:] for row, begin in rows])
            assert np.array_equal(own, words[2 * edges[number] : 2 * edges[number + count]])


@given(
    seed=st.integers(0, 10**6), at=st.integers(0, 10**6), bit=st.integers(0, 7), cut=st.booleans()
)
def test_other_bytes_are_refused_alike(seed: int, at: int, bit: int, cut: bool) -> None:
    symbols, starts = classes_of(seed, 5, 4)
    words, edges, tables = push(symbols, starts, 5, 100)
    words = words.copy()
    if cut:
        edges[-1] -= 1
    else:
        words[at % len(words)] ^= 1 << bit
    results = set[int]()
    for version in (reference(pop_classes), *natives(pop_classes)):
        results.add(version(words, np.array(edges), 5, *tables, 0, 1, np.zeros_like(symbols)))
    assert len(results) == 1
    assert min(results) >= 0


@pytest.mark.parametrize(
    "wrong", ["share", "number", "segments", "groups", "starts", "frequencies", "edges", "words"]
)
def test_what_does_not_fit_is_refused(wrong: str) -> None:
    symbols, starts = classes_of(3, 5, 4)
    words, edges, (starts, groups, frequencies, share) = push(symbols, starts, 5, 100)
    fillers, number = np.zeros(4, np.uint8), 0
    edges, room, first = (
        np.array(edges),
        np.zeros((len(edges) - 1) * 2 * (share + 9), np.uint8),
        np.zeros(len(edges) - 1, np.int64),
    )
    if wrong == "share":
        share = 10**9
    elif wrong == "number":
        number = len(symbols)
    elif wrong == "segments":
        first, edges = np.zeros(10**4, np.int64), np.zeros(10**4, np.int64)
        room = np.zeros(10**4 * 2 * (share + 9), np.uint8)
    elif wrong == "groups":
        groups = np.array([1, 2, 9, 1], np.uint8)
    elif wrong == "starts":
        starts = starts + 1
    elif wrong == "frequencies":
        frequencies = frequencies + np.uint64(1)
    elif wrong == "edges":
        edges = edges + 10**6
    else:
        room = room[:100]
    for version in (reference(pop_classes), *natives(pop_classes)):
        found = version(
            words, edges, 5, starts, groups, frequencies, share, number, 1, np.zeros_like(symbols)
        )
        assert found == -2 or wrong == "words"
    for version in (reference(push_classes), *natives(push_classes)):
        coding = symbols, 5, starts, groups, fillers, frequencies, share, number, 1
        assert version(*coding, room, first) == -1 or wrong == "edges"
