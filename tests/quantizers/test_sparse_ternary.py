"""Plus or minus one magnitude; which entries are kept is tested in `test_largest`."""

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import InputError, decode, encode, quantizer, stream
from lossyfl.types import Vector


def kept(x: Vector, spec: str) -> Vector:
    return decode(encode(x, quantizer(spec), rng=stream(0)))


@pytest.mark.parametrize("keep", [0.01, 0.1, 1.0])
def test_kept_entries_have_their_sign_and_mean_magnitude(keep: float) -> None:
    x = laplace(20_000)
    got = kept(x, f"sparse_ternary:keep={keep}")
    there = got != 0
    assert np.abs(got[there]) == pytest.approx(np.abs(x[there]).mean(dtype=np.float64), rel=1e-6)
    assert np.array_equal(np.sign(got[there]), np.sign(x[there]))


def test_a_scale_a_block() -> None:
    """A block's magnitude is its scale times a factor that all share, so near its mean, not equal to it."""
    x = np.concatenate([laplace(1000), 100 * laplace(1000, seed=1)])
    got = kept(x, "sparse_ternary:keep=0.1,scale=1000")
    for part, original in zip(np.split(got, 2), np.split(x, 2), strict=True):
        there = part != 0
        assert 0.07 < there.mean() < 0.13
        assert len(set(np.abs(part[there]))) == 1
        assert np.abs(part).max() == pytest.approx(np.abs(original[there]).mean(), rel=0.1)


def test_nominal_bits_are_the_entropy_of_positions_and_signs() -> None:
    """A tenth kept: H(0.1) = 0.469 bits an entry, and a sign for each tenth; one magnitude."""
    chosen = quantizer("sparse_ternary:keep=0.1")
    assert chosen.nominal_bits(100_000, 1) == pytest.approx(32 + 56_900, rel=1e-3)
    frame = encode(laplace(100_000), chosen, rng=stream(0))
    assert 8 * len(frame) == pytest.approx(chosen.nominal_bits(100_000, 1), rel=0.02)


def test_it_has_no_levels() -> None:
    with pytest.raises(InputError, match=r"option of sparse_ternary must be .*, got levels"):
        quantizer("sparse_ternary:levels=2")
