"""Costs of cells and the search for the best, on bins of any vector."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.agree import agree, refuses

from lossyfl.kernels.cells import (
    cost_of_cells,
    costs_of_largest,
    even_edges,
    search_steps,
    spread_edges,
)
from lossyfl.quantizers.magnitudes import EDGES

SEEDS = st.integers(0, 2**32 - 1)


def bins_of(rng: np.random.Generator, bins: int) -> tuple[int, Any, Any, float]:
    """Bins as a vector of normal numbers has: the first, entries and sums before each, and the energy."""
    counts = rng.integers(0, 1000, (2, bins)) * rng.integers(0, 2, bins)
    ahead = np.zeros((2, bins + 1), dtype=np.int64)
    np.cumsum(counts, axis=1, out=ahead[:, 1:])
    first = int(rng.integers(15_000, 16_000))
    means = EDGES[first : first + bins].astype(np.float64)
    sums = np.concatenate([[0.0], np.cumsum(counts.sum(axis=0) * means)])
    return first, ahead, sums, float((counts.sum(axis=0) * means**2).sum())


@given(seed=SEEDS, bins=st.integers(1, 600), cells=st.integers(0, 200))
def test_same_cost(seed: int, bins: int, cells: int) -> None:
    rng = np.random.default_rng(seed)
    first, ahead, sums, energy = bins_of(rng, bins)
    edges = first + np.sort(rng.integers(0, bins + 1, cells))
    agree(cost_of_cells, first, ahead, sums, energy, edges, np.zeros(2))


@given(
    low=st.floats(0, 1e30),
    step=st.floats(0, 1e30) | st.floats(0, 1e-40),
    first=st.integers(0, 2**15),
    stop=st.integers(0, 0x7F80),
    room=st.integers(0, 300),
)
def test_same_edges(low: float, step: float, first: int, stop: int, room: int) -> None:
    agree(even_edges, low, step, first, stop, np.zeros(room, np.int64))
    agree(spread_edges, first, low, low + step, stop, np.zeros(room + 1, np.int64))


@given(seed=SEEDS, bins=st.integers(1, 600), starts=st.integers(1, 5), room=st.integers(1, 40))
def test_same_costs_of_largest(seed: int, bins: int, starts: int, room: int) -> None:
    rng = np.random.default_rng(seed)
    first, ahead, sums, energy = bins_of(rng, bins)
    places = first + rng.integers(0, bins + 1, starts)
    lows, peak = EDGES[places].astype(np.float64), float(EDGES[first + bins - 1])
    edges, out = np.zeros(room, np.int64), np.zeros((2, starts))
    agree(costs_of_largest, first, ahead, sums, energy, places, lows, peak, edges, out)


@settings(max_examples=30)
@given(seed=SEEDS, bins=st.integers(1, 600), by_size=st.booleans(), part=st.floats(0, 1))
def test_same_steps(seed: int, bins: int, by_size: bool, part: float) -> None:
    rng = np.random.default_rng(seed)
    first, ahead, sums, energy = bins_of(rng, bins)
    limit = part * (8 * float(ahead[:, -1].sum()) if by_size else energy)
    finest, peak = float(EDGES[first]) / 100, float(EDGES[first + bins])
    zones, edges, out = np.linspace(0.5, 2, 4), np.zeros(500, np.int64), np.zeros((3, 4))
    sought = finest, peak, zones, by_size, limit, 12
    agree(search_steps, first, ahead, sums, energy, *sought, edges, out)


def test_arrays_that_do_not_fit() -> None:
    first, ahead, sums, energy = bins_of(np.random.default_rng(0), 9)
    edges, out = np.array([first + 3]), np.zeros(2)
    refuses(cost_of_cells, first, ahead, sums[1:], energy, edges, out)
    refuses(cost_of_cells, first, ahead, sums, energy, edges + 7, out)
    refuses(cost_of_cells, first, ahead, sums, energy, edges - 4, out)
    refuses(cost_of_cells, first, ahead, sums, energy, edges, out[:1])
    refuses(cost_of_cells, -1, ahead, sums, energy, edges, out)
    lows = np.ones(2)
    refuses(costs_of_largest, first, ahead, sums, energy, edges, lows, 1.0, edges, out)
    refuses(costs_of_largest, first, ahead, sums, energy, edges, lows[1:], 1.0, edges, out[1:])
    sought = 1.0, 2.0, lows, 1, 9.0, 5
    refuses(search_steps, first, ahead, sums, energy, *sought, edges, np.zeros(5))
