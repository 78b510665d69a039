"""Levels at multiples of a power of two: right in the mean, none beyond what is needed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import f32, laplace

from lossyfl import InputError, UniformTable, stream
from lossyfl.quantizers.dyadic import Dyadic
from lossyfl.wire.grid import step_of
from lossyfl.wire.values import values


def whole(entries: int) -> np.ndarray:
    return np.array([0, entries], dtype=np.int64)


@given(st.integers(1, 60), st.integers(-120, 100), st.integers(0, 10**6))
def test_the_step_is_the_nearest_power_to_that_of_the_paper(
    levels: int, exponent: int, seed: int
) -> None:
    x = laplace(50, seed) * np.float32(2.0**exponent)
    made = Dyadic(levels=levels).quantize(x, whole(50), rng=stream(0))
    assert isinstance(made.table, UniformTable)
    step, peak = float(made.table.high[0]) / made.table.levels, float(np.abs(x).max())
    assert np.frexp(step)[0] == 0.5
    assert 0.75 * step <= peak / levels * (1 + 1e-12) < 1.5 * step * (1 + 2e-12)
    assert made.table.high[0] - step < peak <= made.table.high[0]
    assert step_of(values(made)) in (0, *(step * 2**k for k in range(8)))


def test_what_is_on_the_grid_stays() -> None:
    x = f32([0, -1, 2, 4, -3])
    assert values(Dyadic(levels=4).quantize(x, whole(5), rng=stream(0))).tolist() == x.tolist()


def test_zeros_and_the_smallest_float() -> None:
    zeros = Dyadic().quantize(f32([0] * 9), whole(9), rng=stream(0))
    assert values(zeros).tolist() == [0] * 9
    tiny = Dyadic(levels=2).quantize(f32([1e-45] * 9), whole(9), rng=stream(0))
    assert values(tiny).tolist() == f32([1e-45] * 9).tolist()


def test_the_mean_is_the_vector() -> None:
    """20,000 draws of an entry; off by five standard errors once in 10^6 for each of 20 entries."""
    x = laplace(20)
    bounds = np.arange(0, 20 * 20_001, 20, dtype=np.int64)
    made = Dyadic(levels=3, scale=20).quantize(np.tile(x, 20_000), bounds, rng=stream(5))
    sums = values(made).reshape(-1, 20).mean(axis=0, dtype=np.float64)
    assert isinstance(made.table, UniformTable)
    step = float(made.table.high[0]) / made.table.levels
    assert (np.abs(sums - x) <= 5 * step / 2 / np.sqrt(20_000)).all()


def test_the_error_is_within_its_bound() -> None:
    x, chosen = laplace(5000), Dyadic(levels=2)
    error = values(chosen.quantize(x, whole(5000), rng=stream(0))) - x
    assert float(np.sum(error**2)) <= chosen.error_bound(5000) * float(np.sum(x**2))


def test_beyond_the_largest_float() -> None:
    with pytest.raises(InputError, match="entries of Dyadic must be small enough for multiples"):
        Dyadic(levels=3).quantize(f32([3.4e38, 0]), whole(2), rng=stream(0))


@pytest.mark.parametrize("wrong", [{"levels": 0}, {"levels": True}, {"scale": 0}])
def test_wrong_settings(wrong: dict[str, int]) -> None:
    with pytest.raises(InputError, match=" of Dyadic must be "):
        Dyadic(**wrong)
