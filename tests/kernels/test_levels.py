"""The encoder's choice of levels: the same natively and by NumPy, and what it is for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree, refuses
from tests.kernels.tensors import entries_of, shapes_of, symbols_of

from lossyfl.kernels.levels import LEANS, LEVELS, NEUTRAL, UPRIGHT, choose_levels


def choose(
    symbols: np.ndarray,
    alphabet: int,
    shapes: np.ndarray,
    steps: tuple[int, int] = (1, 1),
    passes: int = 3,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Levels of rows and columns, leans of rows, and the result."""
    rows, columns = int(shapes[0::3].sum()), int(shapes[1::3].sum())
    units = int(max(shapes.reshape(-1, 3)[:, :2].max(), 1))
    found = np.full(rows, 99, np.uint8), np.full(columns, 99, np.uint8), np.full(rows, 99, np.uint8)
    *_, one, other, leans, _, result = agree(
        choose_levels,
        symbols,
        alphabet,
        shapes,
        *steps,
        1,
        passes,
        *found,
        np.zeros(10 * units, np.int64),
    )
    return one, other, leans, result


def test_passes_one_by_one_come_to_the_same() -> None:
    shapes = shapes_of(3, 4)
    symbols = symbols_of(shapes, 5, 3)
    at_once = choose(symbols, 5, shapes, passes=3)
    rows, columns, leans, _ = choose(symbols, 5, shapes, passes=1)
    for _ in range(2):
        assert (
            choose_levels(
                symbols, 5, shapes, 1, 1, False, 1, rows, columns, leans, np.zeros(9999, np.int64)
            )
            == 0
        )
    assert all(
        np.array_equal(a, b) for a, b in zip((rows, columns, leans, 0), at_once, strict=True)
    )


@pytest.mark.parametrize("wrong", range(3))
def test_levels_to_begin_with_are_checked(wrong: int) -> None:
    shapes, room = np.array([4, 6, 1]), np.zeros(60, np.int64)
    levels = np.zeros(4, np.uint8), np.zeros(6, np.uint8), np.zeros(4, np.uint8)
    levels[wrong][-1] = LEVELS
    refuses(choose_levels, np.zeros(24, np.uint8), 3, shapes, 1, 1, 0, 1, *levels, room)
    *_, result = agree(choose_levels, np.zeros(24, np.uint8), 3, shapes, 1, 1, 0, 1, *levels, room)
    assert result == -1


@given(
    seed=st.integers(0, 10**6),
    alphabet=st.sampled_from([2, 3, 4, 5, 8, 15, 69, 256]),
    tensors=st.integers(1, 4),
    steps=st.tuples(st.integers(1, 3), st.integers(1, 3)),
    passes=st.integers(0, 3),
)
def test_same_levels(
    seed: int, alphabet: int, tensors: int, steps: tuple[int, int], passes: int
) -> None:
    shapes = shapes_of(seed, tensors)
    rows, columns, leans, result = choose(
        symbols_of(shapes, alphabet, seed), alphabet, shapes, steps, passes
    )
    assert result == 0
    assert max(rows.max(), columns.max()) < LEVELS
    assert leans.max() < LEANS


def test_busy_rows_and_columns_have_higher_levels() -> None:
    rng = np.random.default_rng(1)
    busy = np.where(np.arange(40) < 20, 0.5, 0.02)[:, None] * np.where(np.arange(60) < 30, 1, 0.1)
    symbols = (1 + np.where(rng.random((40, 60)) < busy, rng.choice([-1, 1], (40, 60)), 0)).astype(
        np.uint8
    )
    rows, columns, leans, _ = choose(symbols.ravel(), 3, np.array([40, 60, 1]))
    assert rows[:20].min() > rows[20:].max()
    assert columns[:30].min() > columns[30:].max()
    assert (leans == UPRIGHT).all()


def test_rows_of_one_sign_lean() -> None:
    rng = np.random.default_rng(1)
    side = np.where(np.arange(40) < 20, 1, -1)[:, None]
    symbols = (1 + np.where(rng.random((40, 60)) < 0.2, side, 0)).astype(np.uint8)
    *_, leans, _ = choose(symbols.ravel(), 3, np.array([40, 60, 1]))
    assert set(leans[:20]) == {LEANS - 1}
    assert set(leans[20:]) == {0}


def test_a_tensor_of_one_column_has_no_level_of_columns() -> None:
    shapes = np.array([1, 1, 50, 6, 1, 20])
    _, columns, _, _ = choose(symbols_of(shapes, 5, 3), 5, shapes)
    assert columns.tolist() == [NEUTRAL, NEUTRAL]


def test_noise_has_hardly_any_levels() -> None:
    symbols = np.random.default_rng(1).integers(0, 3, 3000).astype(np.uint8)
    rows, columns, leans, _ = choose(symbols, 3, np.array([30, 100, 1]))
    assert int(rows.max()) - int(rows.min()) <= 1
    assert len(set(columns)) == len(set(leans)) == 1


@pytest.mark.parametrize(
    ("shapes", "alphabet", "room"),
    [
        ([4, 5, 1], 3, 50), ([4, 5], 3, 50), ([0, 5, 1], 3, 50), ([4, 5, -1], 3, 50), ([4, 6, 1], 1, 60),
        ([4, 6, 1], 257, 60), ([4, 6, 1], 3, 59), ([2**62, 4, 1], 3, 60), ([4, 2**32, 2**32], 3, 60),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(shapes: list[int], alphabet: int, room: int) -> None:
    arguments = np.zeros(24, np.uint8), alphabet, np.array(shapes), 1, 1, 1, 1
    levels = np.zeros(4, np.uint8), np.zeros(6, np.uint8), np.zeros(4, np.uint8)
    *_, result = agree(choose_levels, *arguments, *levels, np.zeros(room, np.int64))
    assert result == -1
    refuses(choose_levels, *arguments, *levels, np.zeros(room, np.int64))


@given(seed=st.integers(0, 999))
def test_shapes_of_other_vectors_are_refused(seed: int) -> None:
    shapes = shapes_of(seed)
    symbols = np.zeros(entries_of(shapes) + 1, np.uint8)
    assert choose(symbols, 3, shapes)[-1] == -1
