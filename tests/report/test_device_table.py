"""Bytes per device as a table."""

from dataclasses import replace
from pathlib import Path

from tests.report.synthetic import SETTINGS, record, write

from lossyfl.report.device_table import ABOUT, HEADS, cells, device_table
from lossyfl.report.groups import group
from lossyfl.report.markdown import markdown
from lossyfl.report.runs import find
from lossyfl.results.ledger_file import HEADER


def test_the_fewest_the_median_and_the_most(tmp_path: Path) -> None:
    """Four rounds of 250 bytes for each of three devices, replies of 100, 101 and 102 bytes."""
    write(tmp_path / "a")
    (only,) = group(find([tmp_path]))
    assert cells(only) == (
        "3", "1.00 kB", "1.00 kB", "1.00 kB", "0.0 %", "400 B", "404 B", "408 B"
    )  # fmt: skip


def test_devices_of_all_seeds_count_and_those_that_were_never_asked(tmp_path: Path) -> None:
    for seed in (0, 1):
        write(tmp_path / str(seed), replace(SETTINGS, seed=seed, devices=4), rounds=[record(0)])
    line = "0,down,catch-up,1,750,1,1,1,7\n"
    (tmp_path / "0" / "ledger.csv").write_text(HEADER + line)
    (only,) = group(find([tmp_path]))
    found = cells(only)
    assert found is not None
    assert found[:5] == ("8", "0 B", "125 B", "750 B", "50.0 %")


def test_a_row_for_each_group_with_a_ledger(tmp_path: Path) -> None:
    write(tmp_path / "a")
    write(tmp_path / "b", replace(SETTINGS, scheme="lossless"))
    (tmp_path / "b" / "ledger.csv").unlink()
    groups = group(find([tmp_path]))
    html = device_table(groups).html
    assert html.count("data-group=") == 1
    assert html.count("<th ") == len(HEADS) + 2
    assert html.count("<td>") == len(HEADS)
    assert ABOUT in markdown(groups)
    (tmp_path / "a" / "ledger.csv").unlink()
    without = group(find([tmp_path]))
    assert device_table(without).html == ""
    assert ABOUT not in markdown(without)
