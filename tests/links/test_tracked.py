"""A broadcast that expects the model to go on as it went."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import laplace

from lossyfl import Address, InputError, Kind, decode, inspect, scheme, stream
from lossyfl.links import LinkState, Message, Schedule, Tracked
from lossyfl.links.tracked import NEW
from lossyfl.quantizers.deadzone import Deadzone
from lossyfl.types import Vector

D = 5000


def link(predict: bool, target: str = "0.5bit") -> Tracked:
    return Tracked(quantizer=Schedule.constant(Deadzone(target=target)), predict=predict)


def message(t: int) -> Message:
    return Message(address=Address(kind=Kind.UPDATE, round=t), rng=stream(0, round=t))


def energy(x: Vector) -> float:
    return float(np.square(x, dtype=np.float64).sum())


def follow(chosen: Tracked, models: list[Vector]) -> tuple[list[float], LinkState]:
    """||x - estimate||^2 after every round."""
    state, left = chosen.init(models[0]), list[float]()
    for t, x in enumerate(models[1:], 1):
        _, state = chosen.send(x, state, message(t))
        left.append(energy(x - state.estimate))
    return left, state


def smooth(part: float) -> list[Vector]:
    """A model whose steps resemble each other, as with kept momentum."""
    steps = [laplace(D, seed=100)]
    for t in range(40):
        fresh = laplace(D, seed=t) * np.float32(np.sqrt(1 - part**2))
        steps.append(np.float32(part) * steps[-1] + fresh)
    return list(np.cumsum(steps, axis=0, dtype=np.float32))


def test_a_frame_says_which_part_it_goes_on_from_and_the_rest() -> None:
    chosen, start, drift = link(True), laplace(D), laplace(D, seed=2)
    x = start + np.float32(0.7) * drift + np.float32(0.1) * laplace(D, seed=1)
    before = LinkState(estimate=start, drift=drift)
    frame, after = chosen.send(x, before, message(7))
    info, sent = inspect(frame), decode(frame)
    assert info.drift == pytest.approx(0.7, abs=0.02)
    assert (info.version, info.kind, info.round) == (3, "update", 7)
    move = np.float32(info.drift) * drift + sent
    assert np.array_equal(after.estimate, start + move)
    assert np.array_equal(after.drift, drift + np.float32(NEW) * (move - drift))
    rest = chosen.quantized(x, before, message(7))
    assert np.array_equal(rest, (x - start) - np.float32(info.drift) * drift)


@pytest.mark.parametrize("target", ["0.25bit", "0.5bit", "1bit"])
def test_what_goes_on_is_followed_more_closely(target: str) -> None:
    plain, predicted = (
        np.mean(follow(link(predict, target), smooth(0.85))[0][10:]) for predict in (False, True)
    )
    assert predicted < 0.8 * plain


@given(st.floats(-3, 3), st.floats(0, 3), st.integers(0, 100))
def test_there_is_never_more_to_say_than_without(part: float, other: float, seed: int) -> None:
    start, drift = laplace(200), laplace(200, seed=seed + 1)
    x = start + np.float32(part) * drift + np.float32(other) * laplace(200, seed=seed + 2)
    rest = link(True).quantized(x, LinkState(estimate=start, drift=drift), message(1))
    assert energy(rest) <= energy(x - start) * (1 + 1e-5)


@pytest.mark.parametrize("target", ["0.1bit", "0.5bit", "2bit"])
def test_it_comes_to_rest_where_the_model_does(target: str) -> None:
    left, state = follow(link(True, target), [laplace(D)] + [laplace(D, seed=1)] * 150)
    assert left[-1] < 1e-3 * left[0]
    assert energy(state.drift) < 1e-3 * left[0]


def test_old_frames_where_nothing_is_expected() -> None:
    chosen = link(True)
    frame, _ = chosen.send(laplace(D, seed=1), chosen.init(laplace(D)), message(1))
    assert (inspect(frame).version, inspect(frame).drift) == (1, 0.0)
    without, _ = link(False).send(laplace(D, seed=1), link(False).init(laplace(D)), message(1))
    assert frame == without


def test_without_it_nothing_is_remembered() -> None:
    assert not len(link(False).init(laplace(D)).drift)


@pytest.mark.parametrize("predict", ["0.5", "1", "much"])
def test_wrong_values_are_refused(predict: str) -> None:
    with pytest.raises(InputError, match="predict of scheme must be true or false"):
        scheme(f"lean:predict={predict}")


def test_not_with_compensation() -> None:
    with pytest.raises(InputError, match="false where errors are compensated"):
        Tracked(quantizer=Schedule.constant(Deadzone()), compensate=True, predict=True)
