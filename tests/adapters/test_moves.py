"""How far one reply can move whole numbers and other arrays that travel exactly."""

import numpy as np
import pytest

from lossyfl.adapters.arrays import Array
from lossyfl.adapters.moves import bounds, check_moves, distance
from lossyfl.errors import Refused
from lossyfl.protocol.rules import ReplyRule

RULE = ReplyRule(factor=30)


def counts(*values: int) -> dict[str, Array]:
    return {"n": Array.of(np.array(values))}


def test_the_distance_is_that_of_the_farthest_entry() -> None:
    assert distance(Array.of(np.array([5, -7])), Array.of(np.array([4, 1]))) == 8
    assert distance(Array.of(np.array([2**63 - 1])), Array.of(np.array([-(2**63)]))) == 2.0**64
    assert distance(Array.of(np.zeros(0, np.int64)), Array.of(np.zeros(0, np.int64))) == 0


def test_the_bound_is_a_multiple_of_what_most_do() -> None:
    replies = [counts(10), counts(20), counts(9 * 10**18)]
    assert bounds(replies, counts(0), RULE) == {"n": 600}


def test_what_most_leave_alone_may_move_by_the_factor() -> None:
    replies = [counts(5), counts(5), counts(9 * 10**18)]
    assert bounds(replies, counts(5), RULE) == {"n": 30}


def test_floats_that_most_leave_alone_may_double() -> None:
    model = {"v": Array.of(np.array([1, -4], np.float32))}
    assert bounds([model] * 3, model, RULE) == {"v": 4}


def test_a_reply_beyond_the_bound_is_refused() -> None:
    check_moves(7, counts(600), counts(0), {"n": 600})
    with pytest.raises(Refused, match="refused as outlier: it moves n by 601, and 600 would be"):
        check_moves(7, counts(601), counts(0), {"n": 600})


def test_without_replies_there_is_nothing_to_bound() -> None:
    assert bounds([], counts(0), RULE) == {}
