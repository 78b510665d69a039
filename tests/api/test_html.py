"""What a notebook shows: everything escaped, and curves where there are values."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

from tests.report.synthetic import SETTINGS, long, record, write

from lossyfl.api.html import plot, shown, table
from lossyfl.report.groups import Group, group
from lossyfl.report.runs import find

EVIL = "<script>alert(1)</script>&\"'"


def groups(tmp_path: Path) -> list[Group]:
    for seed in (0, 1):
        write(tmp_path / f"a{seed}", replace(SETTINGS, seed=seed), rounds=long(seed, 500))
    write(tmp_path / "b", replace(SETTINGS, scheme="lossless"), rounds=[record(0, accuracy=0.5)])
    return group(find([tmp_path]))


def test_a_row_and_a_curve_for_every_group(tmp_path: Path) -> None:
    made = ET.fromstring(shown(groups(tmp_path)).replace("&nbsp;", " "))
    assert len(made.findall(".//tbody/tr")) == 2
    lines = made.findall(".//polyline")
    assert len(lines) == 2
    assert max(len(line.attrib["points"].split()) for line in lines) <= 200
    assert len(made.findall(".//polygon")) == 1  # of two seeds
    assert len(made.findall(".//circle")) == 1  # of one evaluation


def test_points_are_inside_of_the_plot(tmp_path: Path) -> None:
    for points in re.findall(r'points="([^"]*)"', plot(groups(tmp_path)).html):
        for pair in points.split():
            x, y = map(float, pair.split(","))
            assert 0 <= x <= 520
            assert 0 <= y <= 220


def test_all_words_are_escaped(tmp_path: Path) -> None:
    evil = [replace(each, label=EVIL, name=EVIL) for each in groups(tmp_path)]
    html = shown(evil)
    assert "<script" not in html
    assert "&lt;script" in html


def test_nothing_evaluated_is_said(tmp_path: Path) -> None:
    write(tmp_path / "a", rounds=[record(0, accuracy=None)])
    own = group(find([tmp_path]))
    assert "Nothing was evaluated" in plot(own).html
    assert "<td>-</td>" in table(own).html
