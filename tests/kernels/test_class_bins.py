"""Bins by class, and symbols of them: the same natively and by NumPy."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree, refuses

from lossyfl.kernels.class_bins import bin_by_class, look_up_by_class

SEEDS = st.integers(0, 2**32 - 1)


def floats_of(rng: np.random.Generator, entries: int) -> np.ndarray:
    """Floats of many magnitudes, zeros among them."""
    x = rng.standard_t(2, entries) * rng.integers(0, 2, entries) * 10.0 ** rng.integers(-40, 30)
    return x.astype(np.float32)


@given(
    seed=SEEDS, entries=st.integers(0, 500), classes=st.integers(1, 93), bins=st.integers(1, 900)
)
def test_same_bins_and_symbols(seed: int, entries: int, classes: int, bins: int) -> None:
    rng = np.random.default_rng(seed)
    x, own = floats_of(rng, entries), rng.integers(0, classes, entries).astype(np.uint8)
    first, rows = int(rng.integers(0, 2**15)), 2 * classes * bins
    counts, sums = rng.integers(0, 9, rows), rng.random(rows)
    *_, counts, sums, result = agree(bin_by_class, x, own, first, bins, counts.copy(), sums)
    assert result == 0
    symbols_of = rng.integers(0, 256, rows).astype(np.uint8)
    start, stop = np.sort(rng.integers(0, entries + 1, 2)).tolist()
    *_, result = agree(
        look_up_by_class, x, start, stop, own, first, bins, symbols_of, np.zeros(entries, np.uint8)
    )
    assert result == 0


def test_place_of_an_entry() -> None:
    """-1 in class 1 is in the row behind its positive one; what is out of range is at an end."""
    x, classes = np.array([-1, 1, 2, 0.5], np.float32), np.array([1, 0, 0, 0], np.uint8)
    first = int(np.float32(1).view(np.uint32)) >> 16
    counts, sums = np.zeros(8, np.int64), np.zeros(8)
    assert bin_by_class(x, classes, first, 2, counts, sums) == 0
    assert counts.tolist() == [2, 1, 0, 0, 0, 0, 1, 0]
    assert sums.tolist() == [1.5, 2, 0, 0, 0, 0, 1, 0]


def test_entries_that_do_not_fit() -> None:
    x, classes = np.ones(3, np.float32), np.array([0, 1, 2], np.uint8)
    counts, sums, symbols = np.zeros(12, np.int64), np.zeros(12), np.zeros(3, np.uint8)
    for bad in (
        (x, classes, -1, 2, counts, sums), (x, classes, 5, 0, counts, sums),
        (x, classes[1:], 5, 2, counts, sums), (x, classes, 5, 3, counts, sums),
        (x, classes, 5, 2, counts, sums[1:]), (x, classes + 1, 5, 2, counts, sums),
    ):  # fmt: skip
        refuses(bin_by_class, *bad)
    table = np.zeros(12, np.uint8)
    for bad in (
        (x, 0, 4, classes, 5, 2, table, symbols), (x, 2, 1, classes, 5, 2, table, symbols),
        (x, -1, 3, classes, 5, 2, table, symbols), (x, 0, 3, classes, 5, 2, table, symbols[1:]),
        (x, 0, 3, classes + 1, 5, 2, table, symbols), (x, 0, 3, classes, 5, 5, table, symbols),
    ):  # fmt: skip
        refuses(look_up_by_class, *bad)
