"""Limits of rate-distortion theory."""

import numpy as np
import pytest

from lossyfl.theory import limits


def test_gaussian() -> None:
    assert limits.gaussian(0) == 1
    assert limits.gaussian(0.5) == 0.5


def test_laplacian_lies_between_shannons_lower_bound_and_the_gaussian() -> None:
    """The lower bound for unit variance is e / pi 4^-R, reached as the rate grows."""
    points = limits.laplacian()
    rates, errors = np.array(points).T
    assert points[0] == (0.0, 1.0)
    assert (np.diff(rates) > 0).all()
    assert (np.diff(errors) < 0).all()
    excess = errors * 4**rates
    assert (excess[1:] < 1).all()
    assert (excess > np.e / np.pi * 0.9985).all()  # points are exact to 0.001 bits
    assert excess[-1] == pytest.approx(np.e / np.pi, rel=2e-3)


def test_laplacian_at_low_rates() -> None:
    """A coder of even steps with a dead zone reaches 0.486 at half a bit: the limit is below."""
    rates, errors = np.array(limits.laplacian()).T
    at_half = np.exp(np.interp(0.5, rates, np.log(errors)))
    assert 0.40 < at_half < 0.486
