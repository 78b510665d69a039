"""Entries of a ledger and their sums."""

from dataclasses import replace

from lossyfl.protocol.entries import Entry, Row, once, row_sums, whom

UPDATE = Entry(
    round=4,
    direction="down",
    device=0,
    kind="update",
    nbytes=100,
    entries=1000,
    paper_bits=1600.0,
    entropy_bits=700.0,
    frame=77,
)
"""The broadcast of a round, as the first of its devices hears it."""
OTHERS = [replace(UPDATE, device=m) for m in (1, 2)]
MISSED = replace(UPDATE, device=3, kind="catch-up", nbytes=90, frame=66)
SAME = replace(UPDATE, device=3, kind="catch-up")
REPLIES = [replace(UPDATE, direction="up", kind="reply", device=m, frame=m) for m in range(2)]


def test_a_broadcast_carries_a_frame_once() -> None:
    assert once([UPDATE, *OTHERS]) == [UPDATE]
    later = replace(UPDATE, round=5)
    assert once([UPDATE, later]) == [UPDATE, later]


def test_what_one_device_missed_is_for_that_one() -> None:
    """Of two frames that it gets, the newest is the broadcast that others hear, too."""
    assert once([UPDATE, MISSED, SAME]) == [UPDATE, MISSED]
    another = replace(MISSED, device=5)
    assert once([MISSED, another]) == [MISSED, another]


def test_plain_floats_would_go_to_all_at_once_or_to_each() -> None:
    assert whom(UPDATE, "broadcast") == whom(OTHERS[0], "broadcast") == (4, -1)
    assert whom(OTHERS[0], "unicast") == (4, 1)
    assert whom(REPLIES[1], "broadcast") == (4, 1)  # a reply is nobody else's


def total(direction: str, view: str) -> Row:
    """The sum of all rows of a direction, in one view."""
    rows = [
        row
        for row in row_sums([UPDATE, *OTHERS, MISSED, SAME, *REPLIES])
        if (row.direction, row.view) == (direction, view)
    ]
    return sum(rows[1:], rows[0])


def test_sums_of_both_views() -> None:
    heard, sent = total("down", "broadcast"), total("down", "unicast")
    assert (heard.frames, heard.nbytes, heard.floats) == (2, 190, 1000)
    assert (sent.frames, sent.nbytes, sent.floats) == (5, 490, 4000)
    assert total("up", "unicast").nbytes == total("up", "broadcast").nbytes == 200


def test_savings_are_against_floats_that_say_the_same() -> None:
    saved = total("down", "unicast").total
    assert saved.raw_bytes == 16_000
    assert saved.saving == 16_000 / 490
    assert saved.paper_saving == 33 * 4000 / (5 * 1600)
    assert Row(direction="up", view="unicast").total.saving == 1  # nothing for nothing
