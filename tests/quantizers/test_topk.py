"""A few magnitudes; which entries are kept is tested in `test_largest`."""

import math

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import InputError, decode, encode, inspect, quantizer, stream
from lossyfl.types import Vector


def kept(x: Vector, spec: str) -> Vector:
    return decode(encode(x, quantizer(spec), rng=stream(0)))


@pytest.mark.parametrize("keep", [0.01, 0.1, 0.5])
def test_error_is_that_of_what_is_left_out_and_of_sixteen_steps(keep: float) -> None:
    x = laplace(50_000)
    got = kept(x, f"topk:keep={keep}")
    there = got != 0
    step = (np.abs(x[there]).max() - np.abs(x[there]).min()) / 16
    left_out = np.square(x[~there]).sum()
    assert left_out <= (1 - keep) * np.square(x).sum()
    assert np.square(got - x).sum() <= left_out + there.sum() * step**2 / 12 * 1.05


def test_more_levels_are_more_exact() -> None:
    x = laplace(20_000)
    errors = [np.square(kept(x, f"topk:keep=0.3,levels={n}") - x).sum() for n in (1, 2, 8, 127)]
    assert errors == sorted(errors, reverse=True)
    assert len(set(errors)) == len(errors)


def test_one_level_is_sparse_ternary() -> None:
    x = laplace(20_000)
    one = kept(x, "topk:keep=0.1,levels=1")
    assert np.array_equal(one, kept(x, "sparse_ternary:keep=0.1"))


@pytest.mark.parametrize("levels", [1, 5, 127])
def test_so_many_magnitudes_each_way_at_the_most(levels: int) -> None:
    frame = encode(laplace(20_000), quantizer(f"topk:keep=0.3,levels={levels}"), rng=stream(0))
    assert inspect(frame).alphabet <= 2 * levels + 1
    assert len(np.unique(np.abs(decode(frame)))) <= levels + 1


def test_nominal_bits_are_a_position_and_a_float_for_every_kept_entry() -> None:
    """Positions among 1000 take ten bits."""
    assert quantizer("topk:keep=0.02").nominal_bits(1000, 1) == 20 * (32 + 10)
    assert quantizer("topk:keep=0.0001").nominal_bits(1000, 1) == 32 + math.ceil(math.log2(1000))


@pytest.mark.parametrize("levels", ["0", "128", "1.5", "many"])
def test_what_it_refuses(levels: str) -> None:
    with pytest.raises(
        InputError, match=rf"levels of TopK must be an int in \[1, 127\], got {levels}"
    ):
        quantizer(f"topk:levels={levels}")
