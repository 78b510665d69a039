"""The replies of a round, added in the order of devices whatever the order of arrival."""

from itertools import permutations

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import Refused, Stochastic, encode, stream
from lossyfl.protocol.aggregation import Aggregation, Collected
from lossyfl.protocol.ledger import Ledger
from lossyfl.protocol.membership import Membership
from lossyfl.protocol.replies import Expected
from lossyfl.protocol.rules import Norms, ReplyRule
from lossyfl.types import Vector

D = 300
WEIGHTS = {1: 3, 4: 5, 6: 2}


def aggregation(*, is_open: bool = True, rule: ReplyRule | None = None) -> Aggregation:
    return Aggregation(
        Collected.none(dict(WEIGHTS), D),
        Membership(WEIGHTS),
        Norms(),
        Ledger(),
        rule or ReplyRule(norm="off"),
        Expected(entries=D, round=2, digest=7, training=9),
        is_open=is_open,
        threads=1,
    )


def reply(to: Aggregation, device: int, x: Vector | None = None) -> bytes:
    vector = laplace(D, seed=device) if x is None else x
    return encode(vector, Stochastic(levels=3), rng=stream(device), meta=to.meta(device))


@pytest.mark.parametrize("order", list(permutations(WEIGHTS)))
def test_any_order_of_arrival_gives_the_same_sum(order: tuple[int, ...]) -> None:
    usual, other = aggregation(), aggregation()
    for each, devices in ((usual, tuple(WEIGHTS)), (other, order)):
        for device in devices:
            each.accept(device, reply(each, device))
        each.close()
    assert other.collected.total.tobytes() == usual.collected.total.tobytes()
    assert (other.collected.weight, other.collected.waiting) == (10, {})


def test_replies_wait_encoded_until_their_turn() -> None:
    each = aggregation()
    late = reply(each, 6)
    each.accept(6, late)
    assert each.collected.waiting == {6: late}
    assert not each.collected.total.any()
    each.accept(1, reply(each, 1))
    assert each.collected.turn == 1
    each.close()
    assert each.collected.weight == 5
    assert each.collected.waiting == {}


def test_of_a_round_that_is_closed_all_are_late() -> None:
    each = aggregation(is_open=False)
    with pytest.raises(Refused, match="round 2 is closed"):
        each.accept(1, reply(each, 1))


def test_others_may_be_called_before_the_first_reply() -> None:
    each = aggregation()
    each.set_participants({4: 50})
    with pytest.raises(Refused, match="takes no part in round 2"):
        each.accept(1, reply(each, 1))
    each.accept(4, reply(each, 4))
    assert each.collected.weight == 50


def test_what_is_given_away_is_not_added() -> None:
    each = aggregation()
    vector = each.accept_and_decode(4, reply(each, 4))
    each.close()
    assert vector.shape == (D,)
    assert not each.collected.total.any()
    with pytest.raises(Refused, match="there is one of round 2"):
        each.accept(4, reply(each, 4))


def test_a_round_that_is_taken_back_leaves_devices_as_before() -> None:
    each = aggregation()
    for device in WEIGHTS:
        each.accept(device, reply(each, device))
    each.take_back("overflow", "for a test")
    assert each.collected.answered == {}
    again = aggregation()
    assert [again.meta(m).digest for m in WEIGHTS] == [each.meta(m).digest for m in WEIGHTS]
    each.accept(1, reply(each, 1))  # its round counts as not accepted


def test_in_a_first_round_an_outlier_is_found_when_all_are_in() -> None:
    each = aggregation(rule=ReplyRule(norm="refuse", factor=10))
    huge = 1000 * laplace(D, seed=4)
    for device in WEIGHTS:
        each.accept(device, reply(each, device, huge if device == 4 else None))
    assert set(each.collected.answered) == {1, 6}
    assert each.collected.weight == 5
    assert np.isfinite(each.collected.total).all()
