"""Bins of magnitudes: exact counts, sums and energy, on any threads; look-ups by the upper bits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import f32

from lossyfl import InputError
from lossyfl.quantizers import magnitudes
from lossyfl.quantizers.magnitudes import BINS, EDGES


def places(x: np.ndarray) -> np.ndarray:
    return (np.abs(x).view(np.uint32) >> 16).astype(np.int64)


@given(values=st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=1, max_size=200))
def test_measure_counts_every_entry_once(values: list[float]) -> None:
    x = f32(values)
    known = magnitudes.measure(x, np.array([0, len(x)]), np.ones(1, np.float32))
    for row, own in zip(known.counts, (x[~np.signbit(x)], x[np.signbit(x)]), strict=True):
        assert np.array_equal(row, np.bincount(places(own) - known.first, minlength=len(row)))
    sums = np.bincount(places(x) - known.first, weights=np.abs(x), minlength=len(known.sums))
    assert np.allclose(known.sums, sums, rtol=1e-12)
    assert known.energy == pytest.approx(np.square(x, dtype=np.float64).sum(), rel=1e-12)
    assert known.counts[:, [0, -1]].any(axis=0).all()  # no empty bins at either end


def test_measure_is_the_same_on_any_threads() -> None:
    x = np.random.default_rng(0).laplace(size=1_300_000).astype(np.float32)
    bounds, factors = np.array([0, 700_001, len(x)]), f32([0.5, 3.0])
    one, two = (magnitudes.measure(x, bounds, factors, threads) for threads in (1, 2))
    assert np.array_equal(one.counts, two.counts)
    assert np.array_equal(one.sums, two.sums)
    assert one.energy == two.energy


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_measure_names_what_is_not_finite(bad: float) -> None:
    with pytest.raises(InputError, match="entry 2"):
        magnitudes.measure(f32([1, 2, bad]), np.array([0, 3]), np.ones(1, np.float32))


def test_look_up_takes_the_upper_bits() -> None:
    x = np.random.default_rng(1).normal(size=600_000).astype(np.float32)
    of = np.random.default_rng(2).integers(0, 200, 2 * BINS).astype(np.uint8)
    bounds, factors = np.array([0, 10, 599_999, len(x)]), f32([1.0, 0.25, 7.0])
    scaled = x * np.repeat(factors, np.diff(bounds))
    expected = of[scaled.view(np.uint32) >> 16]
    for threads in (1, 2):
        assert np.array_equal(magnitudes.look_up(x, bounds, factors, of, threads), expected)


def test_edges_are_the_smallest_of_their_bins() -> None:
    assert np.array_equal(places(EDGES), np.arange(len(EDGES)))
    below = np.nextafter(EDGES[1:], np.float32(0))
    assert np.array_equal(places(below), np.arange(len(EDGES) - 1))


def test_scales_are_root_mean_squares() -> None:
    x = f32([3, -4, 0, 0, 1])
    found = magnitudes.scales(x, np.array([0, 2, 4, 5]))
    assert np.allclose(found, [np.sqrt(12.5), 2.0**-120, 1])


def test_some_entries_of_a_bin_have_their_part_of_its_sum() -> None:
    x = f32([1, 1, 1, -1, 2, -3])
    known = magnitudes.measure(x, np.array([0, len(x)]), np.ones(1, np.float32))
    place = int(places(f32([1]))[0])
    fewer = known.subsampled(place, 3)
    assert fewer.entries == len(x) - 1
    assert fewer.sums.sum() == np.abs(x).sum() - 1
    assert known.entries == len(x)  # and the other is as it was
