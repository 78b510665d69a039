"""Who belongs to a training, and under which number."""

import pytest

from lossyfl import EstimateVersion, InputError
from lossyfl.protocol.membership import Membership

HELD = {m: EstimateVersion(round=m, digest=m) for m in (1, 2)}


def members() -> Membership:
    return Membership({1: 10, 2: 20, 3: 30}, HELD, {1: 5, 2: 6, 9: 7})


def test_who_leaves_is_forgotten_but_for_the_last_reply() -> None:
    known = members()
    known.leave(2)
    assert known.numbers == (1, 3)
    assert 2 not in known
    assert 2 not in known.held
    known.join(2, 1)
    assert known.accepted[2] == 6


def test_members_are_sorted_whoever_comes_and_goes() -> None:
    known = members()
    assert known.numbers == (1, 2, 3)
    known.join(0, 1)
    assert known.numbers == (0, 1, 2, 3)
    known.join(2, 99)  # again: only its weight changes
    assert known.numbers == (0, 1, 2, 3)
    known.leave(1)
    assert known.numbers == (0, 2, 3)
    known.rename({0: 8})
    assert known.numbers == (2, 3, 8)


def test_what_it_was_given_stays_as_it_was() -> None:
    samples = {1: 10}
    known = Membership(samples)
    known.join(2, 20)
    assert samples == {1: 10}


@pytest.mark.parametrize("samples", [0, -1, 1.5, True, 2**53 + 1])
def test_samples_are_a_weight(samples: int) -> None:
    with pytest.raises(InputError, match=r"samples of device 5 must be an int in \[1, 2\^53\]"):
        Membership().join(5, samples)


def test_strangers_are_refused() -> None:
    known = members()
    for act in (known.leave, known.check):
        with pytest.raises(InputError, match="number of a device must be that of a member, got 8"):
            act(8)


def test_two_may_change_their_numbers() -> None:
    known = members()
    known.rename({1: 3, 3: 1})
    assert known.samples == {1: 30, 2: 20, 3: 10}
    assert known.held == {2: HELD[2], 3: HELD[1]}
    assert known.accepted == {2: 6, 3: 5, 9: 7}


@pytest.mark.parametrize("numbers", [{3: 2}, {2: 7, 3: 7}, {9: 2}, {3: -1}])
def test_a_name_that_cannot_be_changes_nothing(numbers: dict[int, int]) -> None:
    known = members()
    with pytest.raises(InputError, match="of a device must be"):
        known.rename(numbers)
    assert (known.samples, known.held) == (members().samples, HELD)


def test_listeners_are_compared_with_the_last() -> None:
    known = members()
    assert [known.hear(who) for who in ([2, 1], [1, 2], [1, 2, 3])] == [True, False, True]
    assert known.listened == (1, 2, 3)


def test_weights_are_in_the_order_of_numbers() -> None:
    assert list(members().weights({3, 1}).items()) == [(1, 10), (3, 30)]
