"""Levels in proportion to a norm."""

import numpy as np
import pytest
from tests.helpers import f32, laplace

from lossyfl import InputError, scheme
from lossyfl.compressors.adaptive import Adaptive
from lossyfl.compressors.by_distance import ByDistance

NOTHING = np.zeros(0, np.int64)


@pytest.mark.parametrize(
    ("x", "expected"), [([0, 0], 1), ([3, 4], 4), ([30, 40], 40), ([0.03, 0.04], 1), ([3, 4.1], 5)]
)
def test_twice_as_long_has_twice_as_many(x: list[float], expected: int) -> None:
    assert ByDistance(q=4, at=5).levels(f32(x), NOTHING, 0) == expected


def test_no_vector_is_too_long() -> None:
    x = np.full(10, 3e38, np.float32)
    assert ByDistance(q=2, at=1e-30).levels(x, NOTHING, 3) == 32_767


def test_the_absolute_error_keeps_its_limit() -> None:
    """eps d ||x||^2 / (4 levels^2) of a vector, and of the same one ten times as long."""
    rule, x = ByDistance(q=20, at=30), laplace(1000)
    lengths = [np.linalg.norm(x) / rule.levels(k * x, NOTHING, 0) * k for k in (1, 10)]
    assert lengths[1] == pytest.approx(lengths[0], rel=0.05)


def test_lfl_quantizes_the_distance_by_it() -> None:
    compressor = scheme("lfl:q1=distance(q=3,at=0.5)").downlink.compressor
    assert compressor == Adaptive(rule=ByDistance(q=3, at=0.5))


def test_wrong_settings() -> None:
    with pytest.raises(InputError, match="at of distance must be a finite number > 0, got 0"):
        ByDistance(at=0)
    with pytest.raises(InputError, match="levels of distance must be an int in"):
        ByDistance(q=0)
