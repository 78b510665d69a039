"""The first minute: sizes and errors of a real update."""

from io import StringIO

from rich.console import Console

from lossyfl.experiments.codec_demo import CHOICES, measure, table

RAW = 38_440


def test_every_choice_is_measured() -> None:
    rows = measure()
    assert [(row.levels, row.scale) for row in rows] == list(CHOICES)
    assert all(row.nbytes < RAW for row in rows)


def test_sizes_are_those_of_whole_frames() -> None:
    for row in measure():
        assert row.bits_per_entry == 8 * row.nbytes / 9610
        assert row.ratio == RAW / row.nbytes
        assert row.bits_per_entry < 1.1 * row.entropy + 0.2  # tables and header are little
        assert row.bits_per_entry < row.paper


def test_more_levels_and_shorter_ranges_lose_less() -> None:
    errors = {(row.levels, row.scale): row.error for row in measure()}
    by_levels = [errors[levels, "model"] for levels in (1, 2, 5, 50)]
    assert by_levels == sorted(by_levels, reverse=True)
    assert errors[2, "model"] > errors[2, "tensor"] > errors[2, 512]


def test_the_table_has_a_line_of_each_beside_raw_floats() -> None:
    shown = StringIO()
    Console(file=shown, width=120).print(table(measure()))
    text = shown.getvalue()
    assert "38,440" in text
    assert all(f"{row.nbytes:,}" in text for row in measure())
