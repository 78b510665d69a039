"""Logarithm and exponential, against the libm of this machine."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lossyfl.kernels.logarithms import exp_of_minus, log2_of


@given(x=st.floats(1e-300, 1e300))
def test_log2_within_2_to_the_minus_51(x: float) -> None:
    found, true = log2_of(np.array([x]))[0], np.log2(x)
    assert abs(found - true) <= 2.0**-51 * max(abs(true), 1)


@given(x=st.floats(0, 1000))
def test_exp_within_2_to_the_minus_51(x: float) -> None:
    assert abs(exp_of_minus(np.array([x]))[0] - np.exp(-x)) <= 2.0**-51 * np.exp(-x) + 1e-17


def test_powers_of_two_are_exact() -> None:
    powers = np.arange(-1000, 1000)
    assert np.array_equal(log2_of(np.ldexp(1.0, powers)), powers)
    assert exp_of_minus(np.zeros(1))[0] == 1
