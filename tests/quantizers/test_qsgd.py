"""QSGD against its definition in plain NumPy."""

import math

import numpy as np
import pytest
from tests.helpers import f32, laplace

from lossyfl import InputError, decode, encode, quantizer, stream
from lossyfl.types import Vector


def drawn(x: Vector, levels: int, seed: int) -> Vector:
    return decode(encode(x, quantizer(f"qsgd:levels={levels}"), rng=stream(seed)))


@pytest.mark.parametrize("levels", [1, 4, 64, 1000])
def test_every_entry_goes_to_one_of_its_two_neighbours(levels: int) -> None:
    x = laplace(4000)
    place = levels * np.abs(x).astype(np.float64) / np.linalg.norm(x.astype(np.float64))
    level = levels * drawn(x, levels, 1).astype(np.float64) / np.linalg.norm(x.astype(np.float64))
    assert np.abs(level) == pytest.approx(np.rint(np.abs(level)), abs=1e-3)
    assert (np.abs(level) >= np.floor(place) - 1e-3).all()
    assert (np.abs(level) <= np.ceil(place) + 1e-3).all()
    assert (level * np.sign(x) >= 0).all()


def test_the_upper_neighbour_is_as_likely_as_the_entry_is_near() -> None:
    """10,000 draws of 0.3 ||x|| with one level: within 0.023, five deviations, of 0.3."""
    x = np.tile(f32([0.3, math.sqrt(1 - 0.09)]), 10_000)
    made = quantizer("qsgd:levels=1,scale=2").quantize(
        x, np.arange(0, len(x) + 1, 2), rng=stream(3)
    )
    up = made.table.rows(0, 1)[0][made.symbols[::2]] > 0
    assert up.mean() == pytest.approx(0.3, abs=0.023)


def test_a_norm_a_block_is_that_of_the_block() -> None:
    x = np.concatenate([laplace(500), 1e4 * laplace(500, seed=1)])
    made = quantizer("qsgd:levels=4,scale=500").quantize(x, np.array([0, 500, 1000]), rng=stream(0))
    norms = [np.linalg.norm(part.astype(np.float64)) for part in np.split(x, 2)]
    assert made.table.rows(0, 2).max(axis=1) == pytest.approx(norms, rel=1e-6)


@pytest.mark.parametrize("levels", [4, 64, 1000])
def test_variance_bound_of_the_paper(levels: int) -> None:
    """min(d / s^2, sqrt(d) / s): the first for many levels, the second for few."""
    chosen = quantizer(f"qsgd:levels={levels}")
    assert chosen.error_bound(10_000) == min(10_000 / levels**2, 100 / levels)
    x = laplace(10_000)
    errors = [np.square(drawn(x, levels, s).astype(np.float64) - x).sum() for s in range(10)]
    assert np.mean(errors) <= (chosen.error_bound(10_000) or 0) * np.square(x).sum()


def test_what_it_refuses() -> None:
    with pytest.raises(InputError, match="levels of Qsgd must be an int in"):
        quantizer("qsgd:levels=0")


def test_a_norm_beyond_all_numbers() -> None:
    with pytest.raises(InputError, match="entries of Qsgd must be small enough for their norm"):
        encode(np.full(100, 1e38, np.float32), quantizer("qsgd"), rng=stream(0))
