"""Cells of magnitudes: what the bins tell of them is what the vector itself does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import f32, laplace

from lossyfl import InputError
from lossyfl.quantizers import magnitudes
from lossyfl.quantizers.cells import Cells, CellStatistics
from lossyfl.quantizers.magnitudes import Magnitudes
from lossyfl.quantizers.targets import Target
from lossyfl.types import Vector


def bins_of(x: Vector) -> Magnitudes:
    return magnitudes.measure(x, np.array([0, len(x)]), np.ones(1, np.float32))


def places(x: Vector) -> np.ndarray:
    return (np.abs(x).view(np.uint32) >> 16).astype(np.int64)


def test_the_cost_of_any_cells_is_known_from_the_bins() -> None:
    x = np.random.default_rng(6).laplace(size=20_000).astype(np.float32)
    known = magnitudes.measure(x, np.array([0, len(x)]), np.ones(1, np.float32))
    statistics = CellStatistics.of(known, 0)
    edges = np.array([known.first + (known.stop - known.first) * 3 // 4])
    bits, error = statistics.cost(edges)
    cells = Cells.of(known, edges)
    decoded = cells.row()[cells.symbols_of()[x.view(np.uint32) >> np.uint32(16)]]
    assert error == pytest.approx(float(np.square(decoded.astype(np.float64) - x).sum()), rel=1e-6)
    counts = cells.counts()
    share = counts / counts.sum()
    assert bits == pytest.approx(-(counts * np.log2(share)).sum() + 44 * 3)


@given(st.integers(0, 1000), st.integers(0, 300), st.integers(0, 300))
def test_entries_and_mean_of_bins(seed: int, start: int, more: int) -> None:
    x = laplace(3000, seed=seed)
    known = bins_of(x)
    statistics = CellStatistics.of(known, 0)
    first, stop = known.first + start, known.first + start + more
    inside = (places(x) >= first) & (places(x) < stop)
    assert statistics.entries(first, stop) == inside.sum()
    mean = np.abs(x[inside]).mean(dtype=np.float64) if inside.any() else 0.0
    assert statistics.mean(first, stop) == pytest.approx(mean)


@given(st.lists(st.floats(-8, 8, width=32), min_size=1, max_size=60))
def test_the_median_is_of_what_is_not_zero(values: list[float]) -> None:
    x = f32(values)
    statistics = CellStatistics.of(bins_of(x), 0)
    own = np.sort(places(x)[places(x) > 0])
    if len(own):
        assert own[(len(own) - 1) // 2] <= statistics.median <= own[len(own) // 2]


def test_scales_are_part_of_the_cost() -> None:
    known = bins_of(laplace(500))
    edges = np.array([known.stop - 5])
    plain, scaled = (CellStatistics.of(known, spent).cost(edges) for spent in (0, 96))
    assert (scaled[0] - plain[0], scaled[1]) == (96, plain[1])


@given(st.integers(0, 1000), st.lists(st.integers(-5, 600), min_size=1, max_size=9, unique=True))
def test_symbols_counts_and_values_fit_each_other(seed: int, steps: list[int]) -> None:
    x = laplace(2000, seed=seed)
    known = bins_of(x)
    cells = Cells.of(known, known.first + np.sort(np.array(steps)).clip(1 - known.first))
    symbols = cells.symbols_of()[x.view(np.uint32) >> np.uint32(16)]
    row, counts = cells.row(), cells.counts()
    assert len(row) == len(counts) == 2 * len(cells.edges) + 1
    assert np.array_equal(counts, np.bincount(symbols, minlength=len(row)))
    for symbol in np.unique(symbols):
        level = abs(int(symbol) - len(cells.edges))
        inside = np.abs(symbols.astype(int) - len(cells.edges)) == level
        mean = np.abs(x[inside]).mean(dtype=np.float64) if level else 0.0
        assert abs(row[symbol]) == pytest.approx(mean, rel=1e-6)
    assert (counts[: len(cells.edges)] + counts[::-1][: len(cells.edges)] > 0).all() or len(
        row
    ) == 3


def test_zeros_have_two_symbols_to_spare() -> None:
    """An alphabet of one symbol could not be coded."""
    known = bins_of(np.zeros(10, np.float32))
    cells = Cells.of(known, np.array([], dtype=np.int64))
    assert cells.counts().tolist() == [0, 10, 0]


def test_an_error_out_of_reach_is_said_with_the_least_there_is() -> None:
    known = bins_of(laplace(500))
    statistics, edges = CellStatistics.of(known, 0), np.array([known.stop - 100])
    reached = statistics.cost(edges)[1] / known.energy
    statistics.check_error(edges, Target(nmse=reached), of="x")
    statistics.check_error(edges, Target(rate=0.001), of="x")
    statistics.check_error(edges, None, of="x")
    with pytest.raises(InputError, match=f"target of x must be an nmse of {reached:.2g} or more"):
        statistics.check_error(edges, Target(nmse=reached / 2), of="x")
