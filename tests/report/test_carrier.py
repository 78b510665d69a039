"""What carried the frames, beside the frames."""

from dataclasses import replace
from pathlib import Path

from tests.report.synthetic import SETTINGS, record, write

from lossyfl.report.carrier import HEADS, Carried, carried, carrier_table
from lossyfl.report.groups import group
from lossyfl.report.runs import find
from lossyfl.results.records import Round


def over_messages(number: int, *, wire: int = 0) -> Round:
    one = record(number)
    return replace(
        one,
        down=replace(one.down, unicast=750, carrier=900, plain=12_000, wire=wire),
        up=replace(one.up, unicast=303, carrier=420, plain=12_000, wire=wire),
    )


def test_the_simulator_carries_nothing(tmp_path: Path) -> None:
    write(tmp_path / "a")
    groups = group(find([tmp_path]))
    assert carried(groups[0]) is None
    assert carrier_table(groups).html == ""


def test_bytes_are_means_per_round_over_all_seeds(tmp_path: Path) -> None:
    write(tmp_path / "a", rounds=[over_messages(0, wire=1000), over_messages(1, wire=3000)])
    write(tmp_path / "b", replace(SETTINGS, seed=1), rounds=[over_messages(0, wire=2000)])
    (only,) = group(find([tmp_path]))
    assert carried(only) == (
        Carried(frames=750, catch_up=0, plain=12_000, messages=900, wire=2000),
        Carried(frames=303, catch_up=0, plain=12_000, messages=420, wire=2000),
    )


def test_what_nobody_measured_is_no_zero(tmp_path: Path) -> None:
    write(tmp_path / "a", rounds=[over_messages(0)])
    (only,) = group(find([tmp_path]))
    sides = carried(only)
    assert sides is not None
    assert sides[0].cells == ("750 B", "12.0 kB", "900 B", "-")


def test_catch_up_is_told_as_part_of_the_frames(tmp_path: Path) -> None:
    one = over_messages(0)
    late = replace(one, copies=replace(one.down, nbytes=750, catch_up=500))
    write(tmp_path / "a", rounds=[late])
    sides = carried(group(find([tmp_path]))[0])
    assert sides is not None
    assert sides[0].cells[0] == "750 B, of which catch-up 500 B"
    assert sides[1].cells[0] == "303 B"


def test_the_table_has_a_row_for_each_group_that_was_carried(tmp_path: Path) -> None:
    write(tmp_path / "a", rounds=[over_messages(0)])
    write(tmp_path / "b", replace(SETTINGS, scheme="lossless"))
    html = carrier_table(group(find([tmp_path]))).html
    assert html.count("<tr>") == 2
    assert html.count("<th ") == 1 + 2 * len(HEADS) + 1
    assert "lossless" not in html
