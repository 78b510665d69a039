"""Colours and line styles."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.synthetic import SETTINGS, write

from lossyfl.report.groups import Group, group
from lossyfl.report.runs import find
from lossyfl.report.styles import FAMILY, OTHERS, Style, styles


def groups(folder: Path, *schemes: str) -> list[Group]:
    for number, scheme in enumerate(schemes):
        write(folder / str(number), replace(SETTINGS, scheme=scheme))
    return group(find([folder]))


def test_the_papers_systems_look_the_same_whoever_is_beside_them(tmp_path: Path) -> None:
    (alone,) = styles(groups(tmp_path / "a", "lgm"))
    among = styles(groups(tmp_path / "b", "lossless", "lfl", "lgm", "other"))
    assert alone == among[2] == FAMILY["lgm"]


def test_no_two_groups_look_alike(tmp_path: Path) -> None:
    schemes = [f"{name}:q1={q}" for name in ("lfl", "lgm", "own") for q in range(8)]
    chosen = styles(groups(tmp_path, *schemes))
    assert len(set(chosen)) == len(schemes)


@pytest.mark.parametrize("style", [*FAMILY.values(), *OTHERS])
def test_lines_have_contrast(style: Style) -> None:
    """At least 3 to 1 against the card they are drawn on, as WCAG asks of graphics."""
    assert _contrast(style.light, "#ffffff") >= 3
    assert _contrast(style.dark, "#181b21") >= 3


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4 for x in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
