"""The table of results in the page."""

import re
from dataclasses import replace
from pathlib import Path

from tests.report.synthetic import SETTINGS, record, write

from lossyfl.report.groups import group
from lossyfl.report.results_table import HEADS, named, results_table
from lossyfl.report.runs import find


def cells(html: str) -> list[tuple[str, str]]:
    """What is shown in every cell, and the value by which a script sorts it."""
    found = re.findall(r'<td(?: data-value="(.*?)")?>(.*?)</td>', html)
    return [(re.sub("<.*?>", "", shown), value) for value, shown in found]


def test_what_is_shown_and_by_what_it_is_sorted(tmp_path: Path) -> None:
    write(tmp_path / "a")
    write(tmp_path / "b", replace(SETTINGS, seed=1))
    made = cells(results_table(group(find([tmp_path]))).html)
    assert len(made) == len(HEADS) + 2
    by_head = dict(zip(("seeds", "accuracy", *(name for name, _ in HEADS)), made, strict=True))
    assert by_head["seeds"] == ("2", "2.0")
    assert by_head["accuracy"] == ("80.00 %", "0.8")
    assert by_head["bytes down"] == ("1.00 kB", "1000.0")
    assert by_head["saving down"] == ("16.0x", "16.0")


def test_a_seed_that_is_not_there_yet_is_said(tmp_path: Path) -> None:
    write(tmp_path / "a")
    write(tmp_path / "b", replace(SETTINGS, seed=1), rounds=[record(0)])
    html = results_table(group(find([tmp_path]))).html
    assert 'title="seeds 0">1 of 2<' in html


def test_a_run_without_rounds_sorts_by_nothing(tmp_path: Path) -> None:
    write(tmp_path / "a", rounds=[])
    shown = cells(results_table(group(find([tmp_path]))).html)
    assert shown[1] == ("-", "")


def test_running_groups_are_marked_and_names_are_text(tmp_path: Path) -> None:
    write(tmp_path / "a", replace(SETTINGS, scheme="<b>"))
    (only,) = group(find([tmp_path]))
    assert "&lt;b&gt;" in named(3, only).html
    assert "var(--g3)" in named(3, only).html
    assert "running" not in named(3, only).html
