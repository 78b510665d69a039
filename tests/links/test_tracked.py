"""A broadcast that expects the model to go on as it went."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import laplace

from lossyfl import FrameError, FrameMeta, InputError, Kind, decode, inspect, scheme, stream
from lossyfl.compressors import Schedule, SendContext
from lossyfl.errors import NotFinite
from lossyfl.links import LinkState, Tracked
from lossyfl.links.tracked import NEW
from lossyfl.protocol.digests import digest
from lossyfl.quantizers.deadzone import Deadzone
from lossyfl.types import Vector
from lossyfl.wire.frame import pack_raw

D = 5000


def link(predict: bool, target: str = "0.5bit") -> Tracked:
    return Tracked(compressor=Schedule.constant(Deadzone(target=target)), predict=predict)


def context(t: int, gain: int = 0) -> SendContext:
    return SendContext(meta=FrameMeta(kind=Kind.UPDATE, round=t, gain=gain), rng=stream(0, round=t))


def energy(x: Vector) -> float:
    return float(np.square(x, dtype=np.float64).sum())


def times(x: Vector, factor: float) -> Vector:
    product: Vector = x * np.float32(factor)
    return product


def follow(chosen: Tracked, models: list[Vector]) -> tuple[list[float], LinkState]:
    """||x - estimate||^2 after every round."""
    state, left = chosen.init(models[0]), list[float]()
    for t, x in enumerate(models[1:], 1):
        _, state = chosen.send(x, state, context(t))
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
    chosen, start, trend = link(True), laplace(D), laplace(D, seed=2)
    x = start + times(trend, 0.7) + times(laplace(D, seed=1), 0.1)
    before = LinkState(estimate=start, trend=trend)
    frame, after = chosen.send(x, before, context(7))
    info, sent = inspect(frame), decode(frame)
    assert info.gain == pytest.approx(0.7, abs=0.02)
    assert (info.version, info.kind, info.round) == (3, "update", 7)
    move = times(trend, info.gain) + sent
    assert np.array_equal(after.estimate, start + move)
    assert np.array_equal(after.trend, trend + times(move - trend, NEW))
    rest = chosen.quantized(x, before, context(7, gain=round(128 * info.gain)))
    assert np.array_equal(rest, (x - start) - times(trend, info.gain))


@pytest.mark.parametrize("target", ["0.25bit", "0.5bit", "1bit"])
def test_what_goes_on_is_followed_more_closely(target: str) -> None:
    plain, predicted = (
        np.mean(follow(link(predict, target), smooth(0.85))[0][10:]) for predict in (False, True)
    )
    assert predicted < 0.8 * plain


@given(st.floats(-3, 3), st.floats(0, 3), st.integers(0, 100), st.sampled_from([1.0, 0.05]))
def test_never_worse_than_without(gain: float, other: float, seed: int, dense: float) -> None:
    """Also where the change is sparse: what a dense trend leaves of it is smaller, but harder to say."""
    start, trend = laplace(500), laplace(500, seed=seed + 1)
    moves = np.random.default_rng(seed).random(500) < dense
    change = times(trend, gain) + times(laplace(500, seed=seed + 2), other)
    x = start + np.where(moves, change, np.float32(0)).astype(np.float32)
    _, plain = link(False, "1bit").send(x, LinkState(estimate=start), context(1))
    _, after = link(True, "1bit").send(x, LinkState(estimate=start, trend=trend), context(1))
    slack = 4 ** (8 * 8 / 500)  # of some bytes: those of frames within a budget differ
    assert energy(x - after.estimate) <= energy(x - plain.estimate) * slack


def test_the_arithmetic_is_part_of_the_protocol() -> None:
    """Devices of another version would go astray, so neither NEW nor the order of roundings may change."""
    chosen, state = link(True), link(True).init(laplace(D))
    for t, x in enumerate(smooth(0.85)[1:6], 1):
        frame, state = chosen.send(x, state, context(t))
        assert inspect(frame).version == (1 if t == 1 else 3)
    assert f"{digest(state.estimate):016x}" == "b6c276c41f02c210"
    assert f"{digest(state.trend):016x}" == "481d5bcc162e75f1"


def test_a_gain_is_refused_where_there_is_no_trend() -> None:
    state = LinkState(estimate=laplace(D), trend=laplace(D, seed=2))
    frame, _ = link(True).send(laplace(D) + laplace(D, seed=2), state, context(1))
    with pytest.raises(FrameError, match="byte 32: expected no gain: this link has no trend"):
        link(False).receive(frame, LinkState(estimate=laplace(D)))


def test_numbers_that_overflow_are_reported_as_without() -> None:
    huge = np.full(D, 3e38, np.float32)
    for predict in (False, True):
        state = replace(link(predict).init(huge), trend=huge if predict else huge[:0])
        with pytest.raises(NotFinite), np.errstate(over="ignore"):
            link(predict).send(-huge, state, context(1))


@pytest.mark.parametrize("target", ["0.1bit", "0.5bit", "2bit"])
def test_it_comes_to_rest_where_the_model_does(target: str) -> None:
    left, state = follow(link(True, target), [laplace(D)] + [laplace(D, seed=1)] * 150)
    assert left[-1] < 1e-3 * left[0]
    assert energy(state.trend) < 1e-3 * left[0]


def test_old_frames_where_nothing_is_expected() -> None:
    chosen = link(True)
    frame, _ = chosen.send(laplace(D, seed=1), chosen.init(laplace(D)), context(1))
    assert (inspect(frame).version, inspect(frame).gain) == (1, 0.0)
    without, _ = link(False).send(laplace(D, seed=1), link(False).init(laplace(D)), context(1))
    assert frame == without


def test_without_it_nothing_is_remembered() -> None:
    assert not len(link(False).init(laplace(D)).trend)


@pytest.mark.parametrize("predict", ["0.5", "1", "much"])
def test_wrong_values_are_refused(predict: str) -> None:
    with pytest.raises(InputError, match="predict of scheme must be true or false"):
        scheme(f"lean:predict={predict}")


def test_not_where_the_mean_must_be_right() -> None:
    with pytest.raises(
        InputError, match="predict of lean must be false, or the server's model preserved"
    ):
        scheme("lean:predict=true,server_model=estimate,down=dithered")


def test_not_with_compensation() -> None:
    with pytest.raises(InputError, match="false where errors are compensated"):
        Tracked(compressor=Schedule.constant(Deadzone()), compensate=True, predict=True)


def test_a_frame_longer_than_the_estimate_is_refused_before_it_is_decoded() -> None:
    tracked = link(predict=False)
    frame = pack_raw(np.zeros(9, np.float32), FrameMeta(kind=Kind.UPDATE))
    with pytest.raises(FrameError, match="1 to 8 entries"):
        tracked.receive(frame, tracked.init(np.zeros(8, np.float32)))
