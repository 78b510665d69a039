"""States as vectors by name: of older versions, and of nobody."""

import numpy as np
from tests.helpers import laplace

from lossyfl import scheme
from lossyfl.links.error_feedback import FeedbackState
from lossyfl.links.lossless import NoState
from lossyfl.links.predicted import PredictedState
from lossyfl.links.state import arrays_of, beside_estimate, downlink_from, state_from
from lossyfl.links.tracked import TrackedState

EMPTY = np.zeros(0, np.float32)


def test_empty_vectors_of_older_versions_are_passed_over() -> None:
    old = {"estimate": laplace(3), "memory": EMPTY, "trend": EMPTY}
    assert str(state_from(old, TrackedState(estimate=EMPTY), 3)) == str(
        TrackedState(estimate=laplace(3))
    )
    assert state_from(dict.fromkeys(old, EMPTY), NoState(), 3) == NoState()


def test_a_new_device_has_nothing() -> None:
    like = FeedbackState(memory=EMPTY)
    assert state_from({}, like, 0) is like
    assert state_from({"memory": laplace(2)}, like, 0) is None


def test_vectors_of_another_shape_are_not_taken() -> None:
    square = laplace(4).reshape(2, 2)
    assert state_from({"memory": square}, FeedbackState(memory=EMPTY), 4) is None


def test_an_older_version_tells_incremental_links_from_others() -> None:
    """By a second copy of the estimate, which devices left out when they saved."""
    old = {"estimate": laplace(3), "memory": EMPTY, "trend": EMPTY}
    tracked, whole = scheme("lfl").downlink, scheme("lossless").downlink
    assert downlink_from(tracked, laplace(3), old) is not None
    assert downlink_from(tracked, laplace(3), {**old, "estimate": EMPTY}) is not None
    assert downlink_from(whole, laplace(3), old) is None
    assert downlink_from(whole, laplace(3), {**old, "estimate": EMPTY}) is not None


def test_beside_the_estimate() -> None:
    state = PredictedState(estimate=laplace(3), trend=laplace(3, seed=1))
    assert list(beside_estimate(state)) == ["trend"]
    assert list(arrays_of(state)) == ["estimate", "trend"]
