"""The fast transform against the matrix."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import hadamard as matrix
from scipy.stats import norm
from tests.helpers import laplace

from lossyfl import InputError, Rotated, Stochastic, decode, encode, inspect, stream
from lossyfl.quantizers.rotated import Signs
from lossyfl.types import Rotation
from lossyfl.wire.frame import pack
from lossyfl.wire.header import FrameMeta
from lossyfl.wire.rotation import hadamard, padded_length, rotate, unrotate
from lossyfl.wire.values import values


@pytest.mark.parametrize("k", range(12))
def test_the_matrix(k: int) -> None:
    n = 1 << k
    x = laplace(n)
    z = x.copy()
    hadamard(z)
    assert np.allclose(z, matrix(n) @ x.astype(np.float64) / np.sqrt(n), atol=1e-5)


@pytest.mark.parametrize("k", [13, 14, 15, 16, 17])
def test_long_vectors_stage_by_stage(k: int) -> None:
    """The same float32 additions in the same order, one plain stage after the other."""
    x = laplace(1 << k)
    z = x.copy()
    hadamard(z)
    y = x * np.float32(1 / np.sqrt(len(x)))
    stride = 1
    while stride < len(y):
        pairs = y.reshape(-1, 2, stride)
        y = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        stride *= 2
    assert np.array_equal(z, y)


@given(entries=st.integers(1, 5000), seed=st.none() | st.integers(0, 2**64 - 1))
def test_turning_back(entries: int, seed: int | None) -> None:
    x = laplace(entries)
    z = rotate(x, seed)
    assert len(z) == padded_length(entries)
    assert np.isclose(np.linalg.norm(z), np.linalg.norm(x), rtol=1e-5)
    assert np.allclose(unrotate(z, seed, entries), x, atol=1e-5)


def test_without_signs_the_first_entry_is_the_sum_of_all() -> None:
    x = np.abs(laplace(1024))
    assert rotate(x, None)[0] == pytest.approx(x.sum() / 32, rel=1e-5)
    assert abs(rotate(x, 0)[0]) < x.sum() / 32 / 4


@pytest.mark.parametrize("signs", ["fresh", "fixed", "none"])
def test_signs_travel_in_the_frame(signs: Signs) -> None:
    """Two frames of other rounds: the same signs, or others; both decode to what was quantized."""
    x = laplace(3000)
    rotated = Rotated(inner=Stochastic(levels=200), signs=signs)
    frames = [encode(x, rotated, rng=stream(1, round=t)) for t in (1, 2)]
    assert [frame[3] for frame in frames] == [4 if signs == "none" else 1] * 2  # the version
    seeds = [frame[32:40] for frame in frames]
    assert (seeds[0] == seeds[1]) == (signs != "fresh")
    for frame in frames:
        assert np.linalg.norm(decode(frame) - x) < 0.05 * np.linalg.norm(x)


def test_a_seed_of_all_ones_has_signs_before_version_4() -> None:
    """Frames of older versions mean what they meant."""
    x = laplace(100)
    made = Rotated(inner=Stochastic(levels=200)).quantize(x, np.array([0, 100]), rng=stream(0))
    odd = replace(made, rotation=Rotation(seed=2**64 - 1, entries=100))
    frame = pack(odd, FrameMeta())
    assert frame[3] == 1
    assert np.array_equal(decode(frame), values(odd))


def test_unknown_signs_are_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"signs of a rotation must be .*none"):
        Rotated(inner=Stochastic(levels=2), signs="non")  # type: ignore[arg-type]


def test_a_spike_is_spread_evenly() -> None:
    x = np.zeros(1024, np.float32)
    x[3] = 32
    assert np.allclose(np.abs(rotate(x, 5)), 1)


def test_seeds_differ() -> None:
    x = laplace(1 << 12)
    a, b = rotate(x, 1), rotate(x, 2)
    limit = norm.isf(1e-6 / 2) / np.sqrt(len(x))
    assert abs(np.corrcoef(a, b)[0, 1]) < limit


def test_rotated_frames_carry_their_seed() -> None:
    x = laplace(3000)
    x[7] = 500  # one entry that spoils a common scale
    plain = decode(encode(x, Stochastic(levels=20), rng=stream(1)))
    frame = encode(x, Rotated(inner=Stochastic(levels=20)), rng=stream(1))
    assert inspect(frame).rotated
    assert inspect(frame).entries == 3000
    turned = decode(frame)
    assert np.sum((turned - x) ** 2) < 0.2 * np.sum((plain - x) ** 2)


def test_unbiased_after_turning_back() -> None:
    """Mean over 2,000 frames, entry by entry within 6 standard errors (false alarm below 1e-6)."""
    x = laplace(200)
    quantizer = Rotated(inner=Stochastic(levels=2))
    draws = np.array([decode(encode(x, quantizer, rng=stream(3, round=t))) for t in range(2000)])
    score = (draws.mean(axis=0) - x) / (draws.std(axis=0) / np.sqrt(2000))
    assert np.abs(score).max() < 6
