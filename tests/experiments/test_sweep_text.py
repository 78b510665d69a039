"""The table of a sweep as text."""

import csv
from pathlib import Path

from tests.experiments.made_up import made_up, planned

from lossyfl.experiments.sweep_table import SweepTable, table_of
from lossyfl.experiments.sweep_text import csv_of, html, markdown, short_cells, short_heads

GOOD, BAD = (0.95, 0.96, 0.97), (0.50, 0.55, 0.52)


def table(out: Path) -> SweepTable:
    plan = planned(out, {"q1": [1, 5], "tau": [2]}, baseline="lossless")
    return table_of(made_up(plan, [BAD, GOOD], GOOD))


def test_markdown(tmp_path: Path) -> None:
    lines = markdown(table(tmp_path)).splitlines()
    assert lines[0].startswith("| q1 | tau | seeds | accuracy | accuracy - baseline, points |")
    assert lines[2].startswith(
        "| lossless | 2 | 3 | 96.00 ± 2.48 % | - | baseline | 100 B | 50 B |"
    )
    assert lines[3].startswith("| 1 | 2 | 3 | 52.33 ± 6.25 % | -43.67 ± ")
    assert "| +0.00 " not in lines[4]
    assert "paired t-test" in lines[-1]


def test_csv_has_numbers_in_full_and_nothing_where_there_is_nothing(tmp_path: Path) -> None:
    head, *rows = csv.reader(csv_of(table(tmp_path)).splitlines())
    first, second = (dict(zip(head, row, strict=True)) for row in rows[:2])
    assert (first["q1"], first["whole_scheme"], first["difference"]) == ("", "lossless", "")
    assert float(second["accuracy"]) == sum(BAD) / 3
    assert float(second["difference_low"]) < float(second["difference"]) < 0
    assert 0 < float(second["p"]) < 0.05


def test_a_terminal_has_no_room_for_bytes(tmp_path: Path) -> None:
    made = table(tmp_path)
    assert len(short_heads(made)) == len(short_cells(made, made.rows[0])) == 8
    assert "bytes" not in " ".join(short_heads(made))


def test_html_is_escaped(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"partition": ["dirichlet(alpha=0.5)", "iid"]})
    shown = html(table_of(made_up(plan, [BAD, GOOD]))).html
    assert '<th scope="col">partition</th>' in shown
    assert "<td>dirichlet(alpha=0.5)</td>" in shown
    assert "Student&#x27;s t" in shown
