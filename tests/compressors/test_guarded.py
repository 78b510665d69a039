"""What would diverge is refused; what would not goes through as it is."""

from dataclasses import dataclass

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import FrameMeta, InputError, Stochastic, quantizer, stream
from lossyfl.compressors import Schedule, SendContext, VarianceGuard
from lossyfl.compressors.guarded import variance
from lossyfl.links import Tracked
from lossyfl.wire.values import values

X = laplace(2000)


def context(t: int = 0) -> SendContext:
    return SendContext(meta=FrameMeta(round=t), rng=stream(1, round=t))


def plain(spec: str) -> Schedule:
    return Schedule.constant(quantizer(spec))


@pytest.mark.parametrize("spec", ["stochastic:levels=1", "qsgd:levels=4", "dithered:step=9"])
def test_a_variance_of_one_or_more_is_refused(spec: str) -> None:
    made, _ = plain(spec).make(X, context(4))
    assert variance(X, made) > 1
    with pytest.raises(InputError, match=r"error of the quantizer must be below .* in round 4"):
        VarianceGuard(inner=plain(spec)).make(X, context(4))


@pytest.mark.parametrize("spec", ["stochastic:levels=64", "natural", "dithered"])
def test_a_small_variance_goes_through_as_it_is(spec: str) -> None:
    guarded = VarianceGuard(inner=plain(spec))
    assert guarded.make(X, context())[1] == plain(spec).make(X, context())[1]
    assert not guarded.damped


@dataclass(frozen=True, slots=True, kw_only=True)
class Biased(Stochastic):
    """One that does not claim to have the right mean."""

    unbiased = False


def test_what_is_biased_is_not_refused() -> None:
    coarse = Schedule.constant(Biased(levels=1))
    made, data = VarianceGuard(inner=coarse).make(X, context())
    assert variance(X, made) > 1
    assert data == coarse.make(X, context())[1]


def test_a_link_that_keeps_errors_stops_before_they_grow() -> None:
    link = Tracked(compressor=VarianceGuard(inner=plain("stochastic:levels=1")))
    with pytest.raises(InputError, match=r"below that of sending nothing .*\(damping=true\)"):
        link.send(X, link.init(np.zeros_like(X)), context())


def test_variance_is_the_relative_error_of_a_draw() -> None:
    made, _ = plain("stochastic:levels=1").make(X, context())
    error = values(made).astype(np.float64) - X
    assert variance(X, made) == pytest.approx(error @ error / np.square(X, dtype=np.float64).sum())
    zeros = np.zeros(10, np.float32)
    assert variance(zeros, plain("stochastic").make(zeros, context())[0]) == 0
