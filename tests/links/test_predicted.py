"""A broadcast that expects the model to go on as it went."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import laplace

from lossyfl import FrameError, FrameMeta, InputError, Kind, decode, inspect, scheme, stream
from lossyfl.compressors import Schedule, SendContext
from lossyfl.errors import NotFinite
from lossyfl.links import Downlink, Predicted, Tracked
from lossyfl.links.predicted import NEW, PredictedState
from lossyfl.links.tracked import TrackedState
from lossyfl.protocol.digests import digest
from lossyfl.quantizers.deadzone import Deadzone
from lossyfl.types import Vector

D = 5000


def predicted(target: str = "0.5bit") -> Predicted:
    return Predicted(compressor=Schedule.constant(Deadzone(target=target)))


def tracked(target: str = "0.5bit") -> Tracked:
    return Tracked(compressor=Schedule.constant(Deadzone(target=target)))


def context(t: int, gain: int = 0) -> SendContext:
    return SendContext(meta=FrameMeta(kind=Kind.UPDATE, round=t, gain=gain), rng=stream(0, round=t))


def energy(x: Vector) -> float:
    return float(np.square(x, dtype=np.float64).sum())


def times(x: Vector, factor: float) -> Vector:
    product: Vector = x * np.float32(factor)
    return product


def follow(chosen: Downlink[Any], models: list[Vector]) -> tuple[list[float], Any]:
    """||x - estimate||^2 after every round."""
    state, left = chosen.init(models[0]), list[float]()
    for t, x in enumerate(models[1:], 1):
        state = chosen.send(x, state, context(t)).state
        left.append(energy(x - state.estimate))
    return left, state


def smooth(gain: float) -> list[Vector]:
    """A model whose steps resemble each other, as with kept momentum."""
    steps = [laplace(D, seed=100)]
    for t in range(40):
        fresh = times(laplace(D, seed=t), np.sqrt(1 - gain**2))
        steps.append(times(steps[-1], gain) + fresh)
    return list(np.cumsum(steps, axis=0, dtype=np.float32))


def test_a_frame_says_which_part_it_goes_on_from_and_the_rest() -> None:
    chosen, start, trend = predicted(), laplace(D), laplace(D, seed=2)
    x = start + times(trend, 0.7) + times(laplace(D, seed=1), 0.1)
    before = PredictedState(estimate=start, trend=trend)
    made = chosen.send(x, before, context(7))
    after, info, sent = made.state, inspect(made.frame), decode(made.frame)
    assert info.gain == pytest.approx(0.7, abs=0.02)
    assert (info.version, info.kind, info.round) == (3, "update", 7)
    move = times(trend, info.gain) + sent
    assert np.array_equal(after.estimate, start + move)
    assert np.array_equal(after.trend, trend + times(move - trend, NEW))
    assert np.array_equal(made.source(), (x - start) - times(trend, info.gain))


@pytest.mark.parametrize("target", ["0.25bit", "0.5bit", "1bit"])
def test_what_goes_on_is_followed_more_closely(target: str) -> None:
    plain, better = (
        np.mean(follow(each, smooth(0.85))[0][10:]) for each in (tracked(target), predicted(target))
    )
    assert better < 0.8 * plain


@given(st.floats(-3, 3), st.floats(0, 3), st.integers(0, 100), st.sampled_from([1.0, 0.05]))
def test_never_worse_than_without(gain: float, other: float, seed: int, dense: float) -> None:
    """Also where the change is sparse: what a dense trend leaves of it is smaller, but harder to say."""
    start, trend = laplace(500), laplace(500, seed=seed + 1)
    moves = np.random.default_rng(seed).random(500) < dense
    change = times(trend, gain) + times(laplace(500, seed=seed + 2), other)
    x = start + np.where(moves, change, np.float32(0)).astype(np.float32)
    plain = tracked("1bit").send(x, TrackedState(estimate=start), context(1)).state
    before = PredictedState(estimate=start, trend=trend)
    after = predicted("1bit").send(x, before, context(1)).state
    slack = 4 ** (8 * 8 / 500)  # of some bytes: those of frames within a budget differ
    assert energy(x - after.estimate) <= energy(x - plain.estimate) * slack


def test_the_arithmetic_is_part_of_the_protocol() -> None:
    """Devices of another version would go astray, so neither NEW nor the order of roundings may change."""
    chosen, state = predicted(), predicted().init(laplace(D))
    for t, x in enumerate(smooth(0.85)[1:6], 1):
        sent = chosen.send(x, state, context(t))
        state = sent.state
        assert inspect(sent.frame).version == (1 if t == 1 else 3)
    assert f"{digest(state.estimate):016x}" == "b6c276c41f02c210"
    assert f"{digest(state.trend):016x}" == "481d5bcc162e75f1"


def test_a_gain_is_refused_where_there_is_no_trend() -> None:
    state = PredictedState(estimate=laplace(D), trend=laplace(D, seed=2))
    frame = predicted().send(laplace(D) + laplace(D, seed=2), state, context(1)).frame
    with pytest.raises(FrameError, match="byte 32: expected no gain: this link has no trend"):
        tracked().receive(frame, TrackedState(estimate=laplace(D)))


def test_numbers_that_overflow_are_reported_as_without() -> None:
    huge = np.full(D, 3e38, np.float32)
    with pytest.raises(NotFinite), np.errstate(over="ignore"):
        tracked().send(-huge, TrackedState(estimate=huge), context(1))
    with pytest.raises(NotFinite), np.errstate(over="ignore"):
        predicted().send(-huge, PredictedState(estimate=huge, trend=huge), context(1))


@pytest.mark.parametrize("target", ["0.1bit", "0.5bit", "2bit"])
def test_it_comes_to_rest_where_the_model_does(target: str) -> None:
    left, state = follow(predicted(target), [laplace(D)] + [laplace(D, seed=1)] * 150)
    assert left[-1] < 1e-3 * left[0]
    assert energy(state.trend) < 1e-3 * left[0]


def test_old_frames_where_nothing_is_expected() -> None:
    chosen = predicted()
    frame = chosen.send(laplace(D, seed=1), chosen.init(laplace(D)), context(1)).frame
    assert (inspect(frame).version, inspect(frame).gain) == (1, 0.0)
    without = tracked().send(laplace(D, seed=1), tracked().init(laplace(D)), context(1))
    assert frame == without.frame


@pytest.mark.parametrize("predict", ["0.5", "1", "much"])
def test_wrong_values_are_refused(predict: str) -> None:
    with pytest.raises(InputError, match="predict of scheme must be true or false"):
        scheme(f"lean:predict={predict}")


def test_not_where_the_mean_must_be_right() -> None:
    with pytest.raises(
        InputError, match="predict of lean must be false, or the server's model preserved"
    ):
        scheme("lean:predict=true,server_model=estimate,down=dithered")
