"""What downlinks have in common: those who join need the estimate and nothing besides."""

from typing import Any

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import Stochastic
from lossyfl.compressors import Schedule
from lossyfl.links import Compensated, Lossless, Tracked, WholeModel
from lossyfl.links.base import AbstractDownlink, nothing
from lossyfl.links.state import arrays_of

COMPRESSOR = Schedule.constant(Stochastic(levels=2))
DOWNLINKS: list[AbstractDownlink[Any]] = [
    Tracked(compressor=COMPRESSOR),
    Compensated(compressor=COMPRESSOR),
    WholeModel(carrier=Lossless()),
]
each_downlink = pytest.mark.parametrize("link", DOWNLINKS, ids=lambda link: type(link).__name__)


@each_downlink
def test_whoever_joins_begins_with_the_estimate(link: AbstractDownlink[Any]) -> None:
    x = laplace(50)
    joined, new = arrays_of(link.join(x, nothing())), arrays_of(link.init(x))
    assert joined.keys() == new.keys()
    assert all(np.array_equal(joined[name], new[name]) for name in new)
    assert np.array_equal(joined["estimate"], x)


@each_downlink
def test_there_is_no_trend_to_send(link: AbstractDownlink[Any]) -> None:
    assert link.trend(link.init(laplace(50))).size == 0
    assert not link.selects


def test_nothing_is_a_vector() -> None:
    assert nothing().shape == (0,)
    assert nothing().dtype == np.float32
