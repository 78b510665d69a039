"""Figures for print."""

from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.synthetic import SETTINGS, long, write

from lossyfl.errors import InputError
from lossyfl.report.figure import X, draw
from lossyfl.report.groups import Group, group
from lossyfl.report.runs import find


@pytest.fixture
def groups(tmp_path: Path) -> list[Group]:
    for seed in (0, 1):
        write(tmp_path / f"a{seed}", replace(SETTINGS, seed=seed), rounds=long(seed, 30))
    write(tmp_path / "b", replace(SETTINGS, scheme="_own$x^2$"), rounds=long(3, 30))
    write(tmp_path / "c", replace(SETTINGS, scheme="empty"), rounds=[])
    return group(find([tmp_path]))


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
@pytest.mark.parametrize("x", ["rounds", "bytes"])
def test_the_same_file_to_the_byte(groups: list[Group], tmp_path: Path, suffix: str, x: X) -> None:
    for name in ("one", "two"):
        draw(groups, tmp_path / f"{name}{suffix}", x=x, title="a $ b", caption="What is seen.")
    one, two = (tmp_path / f"{name}{suffix}" for name in ("one", "two"))
    assert one.read_bytes() == two.read_bytes()
    assert one.stat().st_size > 5_000


def test_no_date_and_no_version(groups: list[Group], tmp_path: Path) -> None:
    draw(groups, tmp_path / "a.svg")
    text = (tmp_path / "a.svg").read_text()
    assert "<dc:date>" not in text
    assert "matplotlib.org" not in text


def test_each_task_has_its_axes(groups: list[Group], tmp_path: Path) -> None:
    write(tmp_path / "d", replace(SETTINGS, task="mnist"), rounds=long(3, 30))
    draw(group(find([tmp_path])), tmp_path / "two.svg", title="both")
    draw(groups, tmp_path / "one.svg")
    assert (tmp_path / "two.svg").read_text().count('id="axes_') == 2
    assert (tmp_path / "one.svg").read_text().count('id="axes_') == 1


def test_nothing_to_draw(tmp_path: Path) -> None:
    write(tmp_path / "c", rounds=[])
    draw(group(find([tmp_path])), tmp_path / "a.png", x="bytes")
    assert (tmp_path / "a.png").exists()


def test_wrong_suffix(groups: list[Group], tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"suffix of a figure must be one of .png, .svg, .pdf"):
        draw(groups, tmp_path / "a.gif")
