"""Classes of keys and their tables, natively and by NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree, refuses
from tests.kernels.tensors import ALPHABETS, classes_of, tables_of

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
from lossyfl.kernels.plan import MAX_TOTAL


@given(seed=st.integers(0, 10**6), alphabet=st.sampled_from(ALPHABETS), used=st.integers(1, KEYS))
def test_same_classes(seed: int, alphabet: int, used: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = np.zeros(KEYS, np.int64)
    sizes[rng.permutation(KEYS)[:used]] = rng.integers(1, 200, used)
    spread = rng.dirichlet(np.full(alphabet, 0.5), 3)
    keyed = np.concatenate(
        [rng.choice(alphabet, n, p=spread[rng.integers(3)]) for n in sizes]
    ).astype(np.uint8)
    starts = np.concatenate([[0], np.cumsum(sizes)])
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


@pytest.mark.parametrize("wrong", ["alphabet", "starts", "ends", "sums", "classes"])
def test_keys_that_do_not_fit_are_refused(wrong: str) -> None:
    starts = np.full(KEYS + 1, 3)
    starts[0] = 0
    if wrong == "starts":
        starts[5] = 2
    elif wrong == "ends":
        starts[-1] = 4
    alphabet, room = 257 if wrong == "alphabet" else 3, KEYS + (wrong != "sums")
    classes = np.zeros(KEYS - (wrong == "classes"), np.uint8)
    keyed, sums = np.array([0, 1, 2], np.uint8), np.zeros(room * alphabet, np.int64)
    assert agree(choose_classes, keyed, starts, alphabet, sums, classes)[-1] == -1
    refuses(choose_classes, keyed, starts, alphabet, sums, classes)


@pytest.mark.parametrize(
    "counts", [[0, 0, 0], [5, -1, 2], [MAX_TOTAL, 1, 0], [2**62, 2**62, 2**62]]
)
def test_counts_of_no_class_have_no_table(counts: list[int]) -> None:
    room = (
        np.zeros(3, np.uint64),
        np.zeros(2, np.int64),
        np.zeros(1, np.uint8),
        np.zeros(1, np.uint8),
    )
    made = agree(make_tables, np.array(counts), 3, 4, *room, np.zeros(MAX_LETTERS, np.uint64))
    assert made[-1] == -1


@pytest.mark.parametrize(
    ("numbers", "size", "commonest", "group"),
    [
        ([2**63 - 1, 0], 9, 1, 1), ([-1, 0], 9, 1, 1), ([9, 9], 8, 1, 1), ([1, 1], 0, 1, 1),
        ([1, 1], MAX_TOTAL + 1, 1, 1), ([1, 1], 9, 3, 1), ([1, 1], 9, 1, 0), ([1, 1], 9, 1, 9),
    ],
)  # fmt: skip
def test_numbers_of_no_table_are_refused(
    numbers: list[int], size: int, commonest: int, group: int
) -> None:
    one = np.array([size]), np.array([commonest], np.uint8), np.array([group], np.uint8)
    room = np.zeros(3, np.uint64), np.zeros(MAX_LETTERS, np.uint64)
    assert agree(open_tables, np.array(numbers), 3, 4, *one, *room)[-1] == -1
