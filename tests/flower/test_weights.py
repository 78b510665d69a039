"""What a reply counts: the server's word, or the node's within bounds."""

from types import SimpleNamespace
from typing import Any

import pytest
from flwr.app import MetricRecord

from lossyfl.errors import InputError, LossyflError
from lossyfl.flower.weights import check_weights, level_losses, weigh, whole_weights


class Replies:
    """Replies with a metric each, and what became of them."""

    def __init__(self, name: str, *values: float) -> None:
        self.refused: dict[int, str] = {}
        self.noted: dict[int, str] = {}
        self.all: list[Any] = [
            SimpleNamespace(number=number, node=number, metrics=MetricRecord({name: value}))
            for number, value in enumerate(values)
        ]

    def refuse(self, answer: Any, error: LossyflError) -> None:  # noqa: ANN401
        self.refused[answer.number] = str(error)

    def note(self, answer: Any, detail: str) -> None:  # noqa: ANN401
        self.noted[answer.number] = detail


def test_none_counts_more_than_ten_times_the_median() -> None:
    replies = Replies("n", 60, 50, 2**53)
    taken, weights = weigh(replies.all, "n", "capped", replies.refuse, replies.note)
    assert weights == {0: 60, 1: 50, 2: 600}
    assert [own.metrics["n"] for own in taken] == [60, 50, 600]
    assert "counts as 600" in replies.noted[2]


def test_fractions_are_capped_too() -> None:
    replies = Replies("n", 0.5, 0.25, 1000.5)
    _, weights = weigh(replies.all, "n", "capped", replies.refuse, replies.note)
    assert (weights[0], weights[1]) == (0.5, 0.25)
    assert weights[2] == pytest.approx(5)


@pytest.mark.parametrize("value", [-1, float("nan"), 2.0**54])
def test_a_weight_that_is_none_is_refused(value: float) -> None:
    replies = Replies("n", 60, value)
    _, weights = weigh(replies.all, "n", "said", replies.refuse, replies.note)
    assert weights == {0: 60}
    assert "a n that is 0 or in" in replies.refused[1]


def test_one_of_zero_counts_nothing() -> None:
    replies = Replies("n", 60, 0)
    _, weights = weigh(replies.all, "n", "said", replies.refuse, replies.note)
    assert weights == {0: 60}
    assert "weightless" in replies.refused[1]


def test_the_server_may_fix_them() -> None:
    replies = Replies("n", 60, 50)
    _, weights = weigh(replies.all, "n", {0: 3}, replies.refuse, replies.note)
    assert weights == {0: 3}
    assert "the server has no weight for it" in replies.refused[1]
    assert weigh(replies.all, "n", "equal", replies.refuse, replies.note)[1] == {0: 1, 1: 1}


def test_losses_far_from_the_median_count_as_nearer_ones() -> None:
    replies = Replies("loss", 1.0, 2.0, 1e9, -1.0)
    taken = level_losses(replies.all, "loss", "capped", replies.refuse, replies.note)
    assert [own.metrics["loss"] for own in taken] == [1.0, 2.0, 20.0]
    assert list(replies.refused) == [3]


@pytest.mark.parametrize("weights", ["median", {0: 0}, {0: 1.5}])
def test_settings_that_are_none(weights: Any) -> None:  # noqa: ANN401
    with pytest.raises(InputError, match="weight"):
        check_weights(weights)


def test_whole_weights_are_what_a_server_takes() -> None:
    assert whole_weights({0: 2.0, 1: 5}) == {0: 2, 1: 5}
    assert whole_weights({0: 0.5}) is None
