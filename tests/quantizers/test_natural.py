"""Powers of two: the kernel against the definition in plain NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import f32

from lossyfl import InputError, quantizer, stream
from lossyfl.streams import Stream
from lossyfl.types import Vector


def reference(x: Vector, rng: Stream) -> Vector:
    """|x| = f 2^e with f in [1/2, 1): 2^e with probability 2 f - 1, else 2^(e - 1)."""
    fraction, exponent = np.frexp(np.abs(x))
    u = (rng.bits(0, len(x)) >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)
    power = np.ldexp(np.float32(1), exponent - 1 + (u < 2 * fraction - 1)).astype(np.float32)
    return np.where(x == 0, np.float32(0), np.sign(x) * power)


def drawn(x: Vector, rng: Stream) -> Vector:
    made = quantizer("natural").quantize(x, np.array([0, len(x)]), rng=rng)
    assert made.counts is not None
    assert np.array_equal(made.counts, np.bincount(made.symbols, minlength=made.table.alphabet))
    return made.table.rows(0, 1)[0][made.symbols]


tiny = st.floats(-(2.0**-126), 2.0**-126, width=32)
usual = st.floats(-(2.0**100), 2.0**100, width=32)


@given(values=st.lists(tiny | usual, min_size=1, max_size=100), seed=st.integers(0, 1000))
def test_kernel_is_the_definition(values: list[float], seed: int) -> None:
    x = f32(values)
    assert np.array_equal(drawn(x, stream(seed)), reference(x, stream(seed)))


def test_over_many_strips_and_threads() -> None:
    x = np.random.default_rng(0).normal(size=300_000).astype(np.float32)
    assert np.array_equal(drawn(x, stream(4)), reference(x, stream(4)))
    made = quantizer("natural").quantize(x, np.array([0, len(x)]), rng=stream(4), threads=2)
    assert np.array_equal(made.table.rows(0, 1)[0][made.symbols], reference(x, stream(4)))


def test_what_would_become_infinite_is_refused() -> None:
    for seed in range(20):  # whatever is drawn
        with pytest.raises(
            InputError, match=r"entries of Natural must be at most 2\^127, got 2.55"
        ):
            drawn(f32([1.5 * 2**127]), stream(seed))
    assert drawn(f32([-(2.0**127)]), stream(0))[0] == -(2.0**127)


def test_zeros_alone() -> None:
    assert not drawn(np.zeros(10, dtype=np.float32), stream(0)).any()
