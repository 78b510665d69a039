"""rANS through all classes, natively and by NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree, natives
from tests.kernels.tensors import ALPHABETS, classes_of, tables_of

from lossyfl.kernels.class_coder import pop_classes, push_classes
from lossyfl.kernels.native import reference

Coding = tuple[np.ndarray, np.ndarray, np.ndarray, int]


def push(
    symbols: np.ndarray, starts: np.ndarray, alphabet: int, share: int, threads: int = 1
) -> tuple[np.ndarray, list[int], Coding]:
    """The words of all segments and where each begins, the same by all; what they are popped with."""
    _, _, commonest, groups, frequencies = tables_of(symbols, starts, alphabet, 7)
    letters = sum(-(-int(n) // int(g)) for n, g in zip(np.diff(starts), groups, strict=True))
    share = min(share, -(-letters // 4) * 4)
    segments, width = -(-letters // share), 2 * (share + 9)
    found, lengths = list[bytes](), list[int]()
    coding = symbols, alphabet, starts, groups, commonest, frequencies, share
    for version in (reference(push_classes), *natives(push_classes)):
        words, first = np.zeros(segments * width, np.uint8), np.zeros(segments, np.int64)
        assert version(*coding, 0, threads, words, first) == 0
        parts = [
            words[i * width + at : (i + 1) * width].tobytes() for i, at in enumerate(first.tolist())
        ]
        found.append(b"".join(parts))
        lengths = [len(part) // 2 for part in parts]
    assert len(set(found)) == 1
    edges = [0, *np.cumsum(lengths).tolist()]
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
