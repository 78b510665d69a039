"""Tables and lines of the comparison with NNCodec say what was measured, and which goals are missed."""

import pytest

from benchmarks import nncodec_tables
from benchmarks.nncodec_tables import BEST, Point, Speed


def point(ratio: float, rate: float = 0.5, sent: str = "reply", **others: float) -> Point:
    return Point(
        source="mnist",
        sent=sent,
        round=7,
        entries=8000,
        rate=rate,
        nmse=0.25,
        ours=round(1000 * ratio),
        theirs={BEST: 1000.0} | {name: 1000 * ratio for name, ratio in others.items()},
    )


def speed(encode: float, decode: float) -> Speed:
    return Speed(source="mnist", sent="reply", rate=0.5, encode=encode, decode=decode)


def test_an_update_is_a_row_and_a_rate_a_column() -> None:
    points = [point(0.9, 2.0), point(1.2, 0.05), point(0.7, 2.0, "broadcast")]
    table = nncodec_tables.bytes_table(points)
    assert table.columns == ("update", "0.05", "2")
    assert table.rows == [
        ["mnist reply, round 7", "1.20", "0.90"],
        ["mnist broadcast, round 7", "", "0.70"],
    ]
    assert nncodec_tables.errors_table(points).rows[0][1:] == ["1.20 / 0.25", "0.90 / 0.25"]


def test_other_tools_are_compared_with_the_best_where_they_were_tried() -> None:
    points = [point(0.9), point(0.9, plain=1.5), point(0.9, plain=1.7), point(0.9, 2.0, plain=1.0)]
    table = nncodec_tables.tools_table(points)
    assert table.columns == ("rate", "plain")
    assert table.rows == [("0.5", "1.600"), ("2", "1.000")]
    assert nncodec_tables.tools_table(points[:1]).rows == []


def test_what_it_comes_to() -> None:
    points = [point(0.8), point(0.9, 2.0), point(1.03), point(0.86)]
    lines = nncodec_tables.summary(points, [speed(30, 12), speed(50, 11), speed(40, 13)])
    speeds = "encode 40x in the median, 30 to 50x, decode 12x in the median, 11 to 13x"
    assert lines == [
        "our bytes / NNCodec's in the mean: 0.897 (goal 0.9: kept)",
        "at the worst point: 1.030 (goal 1.05: kept), mnist reply, round 7, 0.5 bits",
        "of 4 points we are smaller at 3, at most 1.05 of its bytes at 4",
        f"our speed / NNCodec's (goal 10: kept): {speeds}",
    ]


@pytest.mark.parametrize(
    ("line", "ratios", "slowest"), [(0, (0.8, 1.04), 20), (1, (0.5, 1.06), 20), (3, (0.5, 0.6), 9)]
)
def test_a_goal_that_is_missed_is_said(
    line: int, ratios: tuple[float, ...], slowest: float
) -> None:
    points = [point(ratio) for ratio in ratios]
    lines = nncodec_tables.summary(points, [speed(20, slowest)])
    assert [at for at, said in enumerate(lines) if "missed" in said] == [line]


def test_all_tables_have_as_many_cells_as_columns() -> None:
    made = nncodec_tables.tables([point(0.9, plain=1.1), point(0.9, 2.0)], [speed(20, 30)])
    assert len(made) == 4
    assert all(len(row) == len(table.columns) for table in made for row in table.rows)
    assert made[3].rows == [("mnist reply", "0.5", "20", "30")]
