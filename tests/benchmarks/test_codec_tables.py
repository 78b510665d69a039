"""The tables of the codec's benchmark say what was measured, and which limit broke."""

from dataclasses import fields

import pytest

from benchmarks import codec_tables
from benchmarks.codec_tables import Memory, Result, Size, Speed


def result(ours: float, share: float = 0.5) -> Result:
    limits = {"entropy_limit": 1.6, "paper_limit": 1.8}
    others = {"entropy": 1.5, "paper": 1.7, "constriction": 1.5, "zstd1": 2.0, "zstd9": 1.9}
    speed = Speed(**{field.name: 3.25 for field in fields(Speed)})
    return Result(
        entries=10**5,
        levels=2,
        zero_share=share,
        letters=3,
        segments=1,
        size=Size(ours=ours, **others, **limits),
        speed=speed,
        memory=Memory(encode=1.5, decode=4.25),
    )


@pytest.mark.parametrize(("ours", "said"), [(1.55, "kept"), (1.65, "BROKEN"), (1.9, "BROKEN")])
def test_a_broken_limit_is_said(ours: float, said: str) -> None:
    (row,) = codec_tables.sizes_table([result(ours)]).rows
    assert said in row
    assert result(ours).size.holds == (said == "kept")


def test_rows_name_their_vector() -> None:
    results = [result(1.5), result(1.5, share=codec_tables.UNIFORM)]
    for table in (codec_tables.sizes_table, codec_tables.speeds_table, codec_tables.peers_table):
        made = table(results)
        assert [row[:3] for row in made.rows] == [("10^5", "2", "0.5"), ("10^5", "2", "uniform")]
        assert all(len(row) == len(made.columns) for row in made.rows)


def test_memory_and_speed_are_in_the_rows() -> None:
    assert "1.50 / 4.25" in codec_tables.peers_table([result(1.5)]).rows[0]
    assert "3.2 / 3.2" in codec_tables.speeds_table([result(1.5)]).rows[0]
