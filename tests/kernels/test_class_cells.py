"""Cells by class: the same natively and by NumPy, and what the search is for."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.agree import agree, refuses

from lossyfl.kernels.class_cells import (
    FOUND,
    MOST_CELLS,
    WAY,
    search_by_class,
)
from lossyfl.quantizers.magnitudes import EDGES

SEEDS = st.integers(0, 2**32 - 1)


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
    return np.zeros(300, np.int64), lengths, levels, np.zeros(MOST_CELLS + 1), np.zeros(FOUND)


def ways_of(peak: float, *, even: bool = False) -> np.ndarray:
    free = [0, 0.3, peak / 100, peak, even]
    return np.array(
        [[peak / 9, 0, 1e-3 * peak**2, peak**2, even], free, [0, 0, peak / 300, peak, even]]
    ).ravel()


@settings(max_examples=40)
@given(
    seed=SEEDS, classes=st.integers(1, 7), bins=st.integers(1, 700), by_size=st.booleans(),
    part=st.floats(0, 1), even=st.booleans(),
)  # fmt: skip
def test_same_cells(
    seed: int, classes: int, bins: int, by_size: bool, part: float, even: bool
) -> None:
    first, ahead, sums, energy = bins_of(np.random.default_rng(seed), classes, bins)
    total = ahead.reshape(2 * classes, -1)[:, -1].sum()
    limit = part * (4.0 * total if by_size else energy)
    sought = ways_of(float(EDGES[first + bins]), even=even), by_size, limit, 3
    *_, levels, values, out, result = agree(
        search_by_class, first, classes, ahead, sums, energy, *sought, *room(classes, bins)
    )
    assert result == 0
    if np.isfinite(out[0]):
        assert out[0 if by_size else 1] <= limit
        counts = np.diff(ahead.reshape(2 * classes, -1), axis=1).ravel()
        assert (values[levels[(levels > 0) & (counts > 0)]] > 0).all()
        assert out[4] == even
        if even:
            last = int(np.count_nonzero(values))
            assert values[1 : last + 1] == pytest.approx(values[1] * np.arange(1, last + 1))
        _check(ahead, sums, energy, levels, values, float(out[1]))
    else:
        assert not levels.any()
        assert not values.any()


def _check(
    ahead: np.ndarray,
    sums: np.ndarray,
    energy: float,
    levels: np.ndarray,
    values: np.ndarray,
    error: float,
) -> None:
    """The error that is told is that of sending the value of every level."""
    rows = len(ahead) - len(levels)
    entries = np.diff(ahead.reshape(rows, -1), axis=1).ravel()
    held = np.diff(sums.reshape(rows, -1), axis=1).ravel()
    count, total = np.bincount(levels, entries), np.bincount(levels, held)
    sent = values[: len(count)]
    gained = float(np.sum(sent * (2 * total - sent * count)))
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
    way = np.array([float(middle[300]), 0, 1e-3, 1e3, 0])
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
