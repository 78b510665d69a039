"""Cells by class: the same natively and by NumPy, and what the search is for."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.agree import agree, refuses

from lossyfl.kernels.class_cells import (
    MOST_CELLS,
    WAY,
    bin_by_class,
    look_up_by_class,
    search_by_class,
)
from lossyfl.quantizers.magnitudes import EDGES

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


def bins_of(rng: np.random.Generator, classes: int, bins: int) -> tuple[int, Any, Any, float]:
    """Bins as busy and idle classes have, some of which lean: first, entries and sums before, energy."""
    first = int(rng.integers(15_000, 16_000))
    middle = EDGES[first : first + bins].astype(np.float64)
    share = np.exp(-np.outer(rng.random(2 * classes) * 5 / middle.mean(), middle))
    counts = (
        share * rng.integers(0, 2000, (2 * classes, 1)) * rng.random((2 * classes, bins))
    ).astype(np.int64)
    counts[:, : bins // 20] *= 20
    ahead, sums = np.zeros((2 * classes, bins + 1), np.int64), np.zeros((2 * classes, bins + 1))
    np.cumsum(counts, axis=1, out=ahead[:, 1:])
    np.cumsum(counts * middle, axis=1, out=sums[:, 1:])
    return first, ahead.ravel(), sums.ravel(), float((counts * middle**2).sum())


def room(classes: int, bins: int) -> tuple[np.ndarray, ...]:
    """Where cells are written."""
    lengths = np.zeros(2 * classes * (MOST_CELLS + 1))
    levels = np.zeros(2 * classes * bins, np.uint8)
    return np.zeros(300, np.int64), lengths, levels, np.zeros(MOST_CELLS + 1), np.zeros(2)


def ways_of(peak: float) -> np.ndarray:
    free = [0, 0.3, peak / 100, peak]
    return np.array(
        [[peak / 9, 0, 1e-3 * peak**2, peak**2], free, [0, 0, peak / 300, peak]]
    ).ravel()


@settings(max_examples=40)
@given(
    seed=SEEDS, classes=st.integers(1, 7), bins=st.integers(1, 700), by_size=st.booleans(),
    part=st.floats(0, 1),
)  # fmt: skip
def test_same_cells(seed: int, classes: int, bins: int, by_size: bool, part: float) -> None:
    first, ahead, sums, energy = bins_of(np.random.default_rng(seed), classes, bins)
    total = ahead.reshape(2 * classes, -1)[:, -1].sum()
    limit = part * (4.0 * total if by_size else energy)
    sought = ways_of(float(EDGES[first + bins])), by_size, limit, 3
    *_, levels, values, out, result = agree(
        search_by_class, first, classes, ahead, sums, energy, *sought, *room(classes, bins)
    )
    assert result == 0
    if np.isfinite(out[0]):
        assert out[0 if by_size else 1] <= limit
        assert (values[levels[levels > 0]] > 0).all()
        _check(ahead, sums, energy, levels, float(out[1]))
    else:
        assert not levels.any()
        assert not values.any()


def _check(ahead: Any, sums: Any, energy: float, levels: Any, error: float) -> None:  # noqa: ANN401
    """The error that is told is that of sending every level's mean."""
    rows = len(ahead) - len(levels)
    entries = np.diff(ahead.reshape(rows, -1), axis=1).ravel()
    held = np.diff(sums.reshape(rows, -1), axis=1).ravel()
    count, total = np.bincount(levels, entries), np.bincount(levels, held)
    gained = sum(total[1:] ** 2 / np.maximum(count[1:], 1))
    assert error == pytest.approx(energy - gained, abs=1e-6 * max(energy, 1e-300))


def test_idle_classes_send_less() -> None:
    """At one price a magnitude that a busy class sends is zero in an idle one."""
    bins, first = 600, 16_000
    middle = EDGES[first : first + bins].astype(np.float64)
    busy, idle = np.full(bins, 50), np.where(np.arange(bins) > 500, 1, 0)
    idle[0] = 50_000
    counts = np.stack([busy, busy, idle, idle])
    ahead, sums = np.zeros((4, bins + 1), np.int64), np.zeros((4, bins + 1))
    np.cumsum(counts, axis=1, out=ahead[:, 1:])
    np.cumsum(counts * middle, axis=1, out=sums[:, 1:])
    energy, where = float((counts * middle**2).sum()), room(2, bins)
    way = np.array([float(middle[300]), 0, 1e-3, 1e3])
    limit = 1.5 * 100 * bins
    args = first, 2, ahead.ravel(), sums.ravel(), energy, way, True, limit, 12
    assert search_by_class(*args, *where) == 0
    levels = where[2].reshape(4, bins)
    assert (levels[0] > 0).argmax() < (levels[2] > 0).argmax() or not levels[2].any()


@pytest.mark.parametrize(
    "wrong",
    ["classes", "ahead", "sums", "ways", "lengths", "levels", "values", "out", "first"],
)  # fmt: skip
def test_arrays_that_do_not_fit(wrong: str) -> None:
    first, ahead, sums, energy = bins_of(np.random.default_rng(0), 2, 9)
    ways = ways_of(1.0)
    scratch, lengths, levels, values, out = room(2, 9)
    search = {
        "first": first, "classes": 2, "ahead": ahead, "sums": sums, "energy": energy, "ways": ways,
        "by_size": 1, "limit": 9.0, "halvings": 1, "room": scratch, "lengths": lengths,
        "levels": levels, "values": values, "out": out,
    }  # fmt: skip
    search[wrong] = {"classes": 94, "first": -1}.get(wrong, 0) or search[wrong][1:]  # type: ignore[index]
    refuses(search_by_class, *search.values())
    assert len(ways) % WAY == 0


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
