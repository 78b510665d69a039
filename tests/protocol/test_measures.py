"""What quantizing does to a vector, measured."""

import math

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl.protocol.measures import Measured, mean, measure


def test_peak_and_error_of_a_vector() -> None:
    x = laplace(1000)
    lost = np.float32(0.1) * x
    found = measure(x, lost)
    assert found.norm == pytest.approx(np.linalg.norm(x.astype(float)))
    assert found.peak == pytest.approx(np.abs(x).max() / math.sqrt(np.mean(x.astype(float) ** 2)))
    assert found.error == pytest.approx(0.1)
    assert measure(-x).peak == found.peak


def test_zeros_and_nothing() -> None:
    assert measure(np.zeros(3, np.float32)) == Measured(norm=0, peak=0, error=0)
    assert mean([]) is None
    assert mean([Measured(norm=0, peak=0, error=0)]) == Measured(norm=0, peak=0, error=0)
