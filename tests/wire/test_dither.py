"""Dither: the same noise at both ends, in any strips, whatever the blocks."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lossyfl.types import Bounds, UniformTable, Vector
from lossyfl.wire import dither

ENTRIES = 3000


def ladder(levels: int, highs: list[float]) -> UniformTable:
    high = np.array(highs, dtype=np.float32)
    return UniformTable(low=np.zeros_like(high), high=high, alphabet=2 * levels + 1)


def reference(x: Vector, bounds: Bounds, table: UniformTable, seed: int) -> Vector:
    """Symbols by plain NumPy, in the same roundings."""
    steps = np.repeat(dither.steps_of(table), np.diff(bounds))
    with np.errstate(divide="ignore", invalid="ignore"):
        place = np.floor(x / steps + dither.noise(seed, 0, len(x)) + np.float32(0.5))
    place = np.where(steps > 0, place, np.float32(0))
    levels = np.float32(table.levels)
    return np.clip(place, -levels, levels) + levels


@given(
    seed=st.integers(0, 2**64 - 1), cut=st.integers(1, ENTRIES - 1), strip=st.integers(1, ENTRIES)
)
def test_add_is_the_reference_in_any_strips(seed: int, cut: int, strip: int) -> None:
    x = np.random.default_rng(0).normal(size=ENTRIES).astype(np.float32)
    x[cut:] = 0
    bounds, table = np.array([0, cut, ENTRIES]), ladder(9, [2.5, 0.0])
    symbols = np.empty(ENTRIES, dtype=np.uint8)
    for start in range(0, ENTRIES, strip):
        span = range(start, min(start + strip, ENTRIES))
        dither.add(x, bounds, dither.steps_of(table), table.levels, seed, span, symbols)
    assert np.array_equal(symbols, reference(x, bounds, table, seed))


@given(seed=st.integers(0, 2**64 - 1), cut=st.integers(1, ENTRIES - 1))
def test_take_off_undoes_what_was_added(seed: int, cut: int) -> None:
    bounds, table = np.array([0, cut, ENTRIES]), ladder(4, [2.0, 8.0])
    x = np.zeros(ENTRIES, dtype=np.float32)
    dither.take_off(x, bounds, table, seed)
    steps = np.repeat(dither.steps_of(table), np.diff(bounds))
    assert np.array_equal(x, -(steps * dither.noise(seed, 0, ENTRIES)))


def test_take_off_over_many_strips() -> None:
    entries = 200_000
    x = np.zeros(entries, dtype=np.float32)
    dither.take_off(x, np.array([0, entries]), ladder(1, [1.0]), 7)
    assert np.array_equal(x, -dither.noise(7, 0, entries))
