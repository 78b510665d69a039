"""The tables of the server's benchmark: a row per measurement, a cell per column."""

from benchmarks.server_tables import (
    Replies,
    Rotations,
    Rounds,
    Sums,
    replies_table,
    rotations_table,
    rounds_table,
    sums_table,
)

REPLIES = Replies(
    entries=10**5, frame_bytes=1234, per_second=5678.0, gigabytes=2.5, memcpy=0.5, numpy=3.0
)
ROUNDS = Rounds(
    entries=10**5, devices=10, per_second=99.0, peak_in_order=1.5, peak_reversed=2.5, waiting=0.25
)


def test_every_measurement_is_a_row() -> None:
    tables = (
        replies_table([REPLIES] * 2),
        sums_table([Sums(entries=10, waiting=2.0, fixed=1.25)] * 2),
        rounds_table([ROUNDS] * 2),
        rotations_table([Rotations(entries=1024, scipy=7.0, numpy=3.0)] * 2),
    )
    for table in tables:
        assert [len(row) for row in table.rows] == [len(table.columns)] * 2


def test_cells_are_what_was_measured() -> None:
    assert replies_table([REPLIES]).rows[0][:3] == ("100,000", "1,234", "5,678")
    assert rounds_table([ROUNDS]).rows[0] == ("10", "99", "1.50", "2.50", "0.25")


def test_a_matrix_that_was_too_large_has_no_number() -> None:
    assert "-" in rotations_table([Rotations(entries=1 << 20, scipy=0.0, numpy=3.0)]).rows[0]
