"""Which updates are kept, and which of them lead on from an estimate."""

import pytest

from lossyfl import EstimateVersion
from lossyfl.protocol.broadcast_log import BroadcastLog
from lossyfl.protocol.states import Broadcast


def update(number: int, length: int = 10) -> Broadcast:
    """The update of a round; it applies to an estimate with its round's number as digest."""
    return Broadcast(round=number, digest=100 + number, frame=bytes([number]) * length)


def filled(limit: int, lengths: list[int]) -> BroadcastLog:
    log = BroadcastLog(limit)
    for number, length in enumerate(lengths, 1):
        log.add(update(number, length))
    return log


@pytest.mark.parametrize(
    ("limit", "kept"), [(0, [4]), (10, [4]), (29, [3, 4]), (30, [2, 3, 4]), (10**6, [1, 2, 3, 4])]
)
def test_as_many_as_fit_and_the_newest_in_any_case(limit: int, kept: list[int]) -> None:
    assert [each.round for each in filled(limit, [10] * 4).recent] == kept


def test_a_long_one_drops_all_before_it() -> None:
    assert [each.round for each in filled(50, [10, 10, 60, 10]).recent] == [4]


def test_since_an_estimate_come_all_updates_after_it() -> None:
    log = filled(1000, [10] * 4)
    assert log.since(EstimateVersion(round=2, digest=103)) == (update(3), update(4))
    assert log.since(EstimateVersion(round=4, digest=105)) == ()


@pytest.mark.parametrize("known", [(2, 999), (0, 101), (-1, 0), (7, 105)])
def test_what_does_not_join_on_is_no_way(known: tuple[int, int]) -> None:
    """Another digest, rounds that the log has dropped, a new device, a device of the future."""
    log = filled(30, [10] * 4)
    assert log.since(EstimateVersion(round=known[0], digest=known[1])) == ()


def test_cleared_it_leads_nowhere() -> None:
    log = filled(1000, [10] * 3)
    log.clear()
    assert log.since(EstimateVersion(round=2, digest=103)) == ()
    assert log.recent == ()
