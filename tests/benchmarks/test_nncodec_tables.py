"""Tables and lines of the comparison with NNCodec say what was measured, and which goals are missed."""

import numpy as np
import pytest

from benchmarks import nncodec_tables
from benchmarks.nncodec_tables import BEST, PLAIN, TEMPORAL, Found, Point, Speed
from benchmarks.updates import Update


def point(ratio: float, rate: float = 0.5, sent: str = "reply", **others: float) -> Point:
    """A point where we have so many of its bytes at its best, and it as many as are said with other tools."""
    theirs = {BEST: 1000.0, PLAIN: 2000.0} | {
        name.replace("_", " "): b for name, b in others.items()
    }
    return Point(
        source="mnist",
        sent=sent,
        round=7,
        entries=8000,
        rate=rate,
        nmse=0.25,
        ours=round(1000 * ratio),
        theirs={tool: Found(nbytes=nbytes, options={"qp": 3}) for tool, nbytes in theirs.items()},
    )


def speed(encode: float, decode: float, tool: str = BEST) -> Speed:
    return Speed(source="mnist", sent="reply", rate=0.5, tool=tool, encode=encode, decode=decode)


def test_an_update_is_a_row_and_a_rate_a_column() -> None:
    points = [point(0.9, 2.0), point(1.2, 0.05), point(0.7, 2.0, "broadcast", temporal=500)]
    table = nncodec_tables.bytes_table(points, BEST)
    assert table.columns == ("update", "0.05", "2")
    assert table.rows == [
        ["mnist reply, round 7", "1.20", "0.90"],
        ["mnist broadcast, round 7", "", "0.70"],
    ]
    assert [row[1:] for row in nncodec_tables.bytes_table(points, PLAIN).rows] == [
        ["0.60", "0.45"],
        ["", "0.35"],
    ]
    assert nncodec_tables.bytes_table(points, TEMPORAL).rows == [
        ["mnist broadcast, round 7", "1.40"]
    ]
    assert nncodec_tables.errors_table(points).rows[0][1:] == ["1.20 / 0.25", "0.90 / 0.25"]


def test_other_tools_are_compared_with_the_best_where_they_were_tried() -> None:
    points = [point(0.9), point(0.9, no_trellis=1500), point(0.5, no_trellis=1700)]
    table = nncodec_tables.tools_table([*points, point(0.9, 2.0, no_trellis=1000)])
    assert table.columns == ("rate", PLAIN, "no trellis")
    assert table.rows == [("0.5", "2.00", "1.60"), ("2", "2.00", "1.00")]
    assert nncodec_tables.tools_table(points[:1]).rows == []


def test_speeds_with_different_tools_are_side_by_side() -> None:
    table = nncodec_tables.speeds_table([speed(20, 30), speed(7, 8.25, PLAIN)])
    assert table.columns == ("update", "rate", BEST, PLAIN)
    assert table.rows == [("mnist reply", "0.5", "20.0 / 30.0", "7.0 / 8.2")]


def test_what_it_comes_to() -> None:
    ratios = (0.8, 0.9, 1.03, 0.86)
    points = [
        point(ratio, rate, temporal=1000) for ratio, rate in zip(ratios, (1, 2, 3, 4), strict=True)
    ]
    speeds = [speed(30, 12), speed(50, 11), speed(40, 13)]
    lines = nncodec_tables.summary(points, speeds)
    assert lines[0] == (
        "our bytes / NNCodec's at its best: 0.90 in the mean (goal 0.9: kept), 1.03 at the worst "
        "(goal 1.05: kept), mnist reply, round 7, 3 bits; smaller at 3 of 4 points"
    )
    assert lines[3] == (
        "our speed / NNCodec's at its best: encode 40.0x in the median, 30.0 to 50.0x, "
        "decode 12.0x in the median, 11.0 to 13.0x (goal 10: kept)"
    )
    assert [line.split(":")[0] for line in lines] == [
        f"our bytes / NNCodec's {tool}" for tool in (BEST, PLAIN, TEMPORAL)
    ] + [f"our speed / NNCodec's {BEST}"]


@pytest.mark.parametrize(
    ("ratios", "slowest", "missed"),
    [
        ((0.8, 1.04), 20, "goal 0.9"),
        ((0.5, 1.06), 20, "goal 1.05"),
        ((0.5, 0.6), 9, "goal 10"),
    ],
)
def test_a_goal_that_is_missed_is_said(
    ratios: tuple[float, ...], slowest: float, missed: str
) -> None:
    points = [point(ratio, temporal=1000) for ratio in ratios]
    said = " ".join(nncodec_tables.summary(points, [speed(20, slowest)])[::3])
    assert [goal for goal in ("goal 0.9", "goal 1.05", "goal 10") if f"{goal}: missed" in said] == [
        missed
    ]


def test_all_tables_have_as_many_cells_as_columns() -> None:
    points = [point(0.9, temporal=1100), point(0.9, 2.0, temporal=1000)]
    made = nncodec_tables.tables(points, [speed(20, 30)])
    assert len(made) == 6
    assert all(table.rows for table in made)
    assert all(len(row) == len(table.columns) for table in made for row in table.rows)


def test_a_point_knows_its_update() -> None:
    vector = np.ones(3, np.float32)
    update = Update(
        source="mnist", sent="reply", round=7, vector=vector, before=vector, shapes=((3,),)
    )
    assert point(0.5).is_of(update)
    assert not point(0.5, sent="broadcast").is_of(update)
