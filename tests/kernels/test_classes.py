"""Symbols by key and back, natively and by NumPy."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree, natives
from tests.kernels.tensors import entries_of, levels_of, shapes_of, symbols_of

from lossyfl.kernels.classes import gather_keys, key_starts, keys_of, scatter_keys
from lossyfl.kernels.levels import KEYS, SCORES, UPRIGHT
from lossyfl.kernels.native import reference

Levels = tuple[np.ndarray, np.ndarray, np.ndarray]


def same(kernel: Any, *arguments: Any) -> tuple[np.ndarray, int]:  # noqa: ANN401
    """The last argument as every version leaves it, and the result; scratch may differ."""
    found: list[tuple[np.ndarray, int]] = []
    for version in (reference(kernel), *natives(kernel)):
        own = [each.copy() if isinstance(each, np.ndarray) else each for each in arguments]
        found.append((own[-1], version(*own)))
    for out, result in found[1:]:
        assert result == found[0][1]
        assert result != 0 or np.array_equal(out, found[0][0])
    return found[0]


def scratch(room: int = 200) -> tuple[np.ndarray, np.ndarray]:
    return np.zeros(room, np.uint32), np.zeros(room, np.uint8)


@given(
    seed=st.integers(0, 10**6), alphabet=st.sampled_from([2, 3, 4, 5, 69, 256]), tensors=st.integers(1, 5),
    small=st.booleans(),
)  # fmt: skip
def test_round_trip(seed: int, alphabet: int, tensors: int, small: bool) -> None:
    shapes = shapes_of(seed, tensors)
    levels, symbols = levels_of(shapes, seed), symbols_of(shapes, alphabet, seed)
    keyed, result = same(
        gather_keys, symbols, alphabet, shapes, *levels, *scratch(), np.zeros_like(symbols)
    )
    assert result == 0
    values = (
        np.random.default_rng(seed).permutation(alphabet).astype(np.uint8 if small else np.float32)
    )
    out = np.zeros(len(symbols), values.dtype)
    back, result = same(scatter_keys, keyed, shapes, *levels, values, alphabet, *scratch(), out)
    assert result == 0
    assert np.array_equal(back, values[symbols])


@given(seed=st.integers(0, 10**6))
def test_keys_begin_where_smaller_ones_end(seed: int) -> None:
    shapes = shapes_of(seed)
    levels, entries = levels_of(shapes, seed), entries_of(shapes)
    *_, starts, result = agree(key_starts, shapes, entries, *levels, np.zeros(KEYS + 1, np.int64))
    assert result == 0
    keys, _ = keys_of(entries, shapes, *levels)
    assert starts.tolist() == [int((keys < k).sum()) for k in range(KEYS + 1)]


def test_key_of_an_entry() -> None:
    """Row 1 leans down by 2 and column 1 has level 3: 2 SCORES + 5 + 3, turned round."""
    shapes, leans = np.array([2, 2, 2]), np.array([UPRIGHT + 1, 0], np.uint8)
    keys, down = keys_of(8, shapes, np.array([4, 5], np.uint8), np.array([1, 3], np.uint8), leans)
    assert (
        keys.tolist()
        == [SCORES + 5, SCORES + 5, SCORES + 7, SCORES + 7]
        + [2 * SCORES + 6] * 2
        + [2 * SCORES + 8] * 2
    )
    assert down.tolist() == [False] * 4 + [True] * 4


@pytest.mark.parametrize(
    "wrong",
    ["alphabet", "symbol", "row", "column", "lean", "leans", "shapes", "out", "ranks", "held"],
)
def test_what_does_not_fit_is_refused(wrong: str) -> None:
    shapes = np.array([2, 3, 2])
    rows, columns, leans = np.zeros(2, np.uint8), np.zeros(3, np.uint8), np.zeros(2, np.uint8)
    symbols, ranks, held = np.zeros(12, np.uint8), np.zeros(6, np.uint32), np.zeros(6, np.uint8)
    out, alphabet = np.zeros(12, np.uint8), 1 if wrong == "alphabet" else 3
    if wrong == "shapes":
        shapes[0] = 3
    for name, array, bad in (
        ("symbol", symbols, 3),
        ("row", rows, 16),
        ("column", columns, 16),
        ("lean", leans, 5),
    ):
        if wrong == name:
            array[-1] = bad
    leans = leans[:1] if wrong == "leans" else leans
    out = out[:1] if wrong == "out" else out
    ranks = ranks[:5] if wrong == "ranks" else ranks
    held = held[:5] if wrong == "held" else held
    levels = rows, columns, leans
    assert same(gather_keys, symbols, alphabet, shapes, *levels, ranks, held, out)[1] == -1
    values = np.arange(alphabet, dtype=np.uint8)
    assert same(scatter_keys, symbols, shapes, *levels, values, alphabet, ranks, held, out)[1] == -1
    if wrong in ("row", "column", "lean", "leans", "shapes"):
        assert same(key_starts, shapes, 12, *levels, np.zeros(KEYS + 1, np.int64))[1] == -1
    assert (
        same(
            scatter_keys,
            symbols,
            shapes,
            *levels,
            values.astype(np.uint16),
            alphabet,
            ranks,
            held,
            out,
        )[1]
        == -1
    )
