"""The table and the figure of the bound."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from lossyfl import MissingExtra, theory
from lossyfl.experiments import bound_report
from lossyfl.experiments.bound import Outcome
from lossyfl.experiments.bound_settings import BoundSetting, Grid

PROBLEM = theory.Problem(
    mu=0.1, smoothness=6, gradient_bound=2, heterogeneity=0.5, dimension=650, distance0=8.0
)


def outcome(setting: BoundSetting) -> Outcome:
    """Three points that hold."""
    return Outcome(
        setting=replace(setting, rounds=2),
        problem=PROBLEM,
        eps=(0.0, 0.04) if setting.q1 != "exact" else (0.0, 0.0),
        omega=(0.7, 0.6) if setting.q2 != "exact" else (0.0, 0.0),
        distance=(8.0, 4.0, 2.0),
        distance_bound=(8.0, 7.0, 6.0),
        by_round=(8.0, 6.0, 5.0),
        gap=(3.0, 2.0, 1.0),
        gap_bound=(24.0, 21.0, 18.0),
    )


EXACT = [outcome(setting) for setting in Grid().settings()]
QUANTIZED = [outcome(setting) for setting in Grid(q2s=("exact", "2")).settings()]


class TestSheet:
    def test_has_a_line_for_every_outcome(self) -> None:
        sheet = bound_report.sheet(EXACT)
        assert len(sheet.rows) == 32
        assert {len(row) for row in sheet.rows} == {len(sheet.columns)}
        assert {row[-1] for row in sheet.rows} == {"yes"}

    def test_speaks_of_the_uplink_where_one_is_quantized(self) -> None:
        assert "q2" not in bound_report.sheet(EXACT).columns
        sheet = bound_report.sheet(QUANTIZED)
        cells = [dict(zip(sheet.columns, row, strict=True)) for row in sheet.rows]
        assert {(each["q2"], each["omega"]) for each in cells} == {("exact", ""), ("2", "0.70")}

    def test_figures_are_those_of_the_outcome(self) -> None:
        sheet = bound_report.sheet(EXACT[1:2])
        shown = dict(zip(sheet.columns, sheet.rows[0], strict=True))
        assert shown["by round"] == "5.00"
        assert (shown["/ start"], shown["/ measured"], shown["least"]) == ("0.62", "2x", "1.50x")
        assert (shown["eps"], shown["G^2"], shown["F - F*"]) == ("0.040", "4.00", "1.0000")

    def test_what_does_not_hold_says_so(self) -> None:
        wrong = replace(EXACT[0], by_round=(8.0, 3.0, 5.0))
        assert bound_report.sheet([wrong]).rows[0][-1] == "NO"


class TestWords:
    def test_constants_once_for_every_problem(self) -> None:
        lines = bound_report.constants(EXACT)
        assert len(lines) == 2
        assert "iid" in lines[0]
        assert "d = 650, mu >= 0.1, L <= 6.00 (proved)" in lines[0]

    def test_memory_that_may_grow_is_said(self) -> None:
        assert bound_report.growing(QUANTIZED) == ""
        grown = replace(QUANTIZED[-1], omega=(0.9, 1.0))
        assert bound_report.growing([*EXACT, grown]).startswith(
            "in 1 of 33 settings omega reaches 1"
        )


class TestPlot:
    @pytest.mark.parametrize("outcomes", [EXACT, QUANTIZED[:3], EXACT[:1]])
    def test_writes_a_picture(self, outcomes: list[Outcome], tmp_path: Path) -> None:
        pytest.importorskip("matplotlib")
        bound_report.plot(outcomes, tmp_path / "bound.png")
        assert (tmp_path / "bound.png").read_bytes().startswith(b"\x89PNG")

    def test_all_curves_are_in_sight_unless_they_run_away(self) -> None:
        low, high = bound_report.limits(EXACT)
        assert low < 2.0 < 8.0 < high < 16.0
        far = replace(EXACT[0], distance_bound=(8.0, 1e20, float("inf")))
        assert bound_report.limits([far])[1] < 1e5

    def test_missing_extra_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
        with pytest.raises(MissingExtra, match=r"matplotlib .*lossyfl\[report\]"):
            bound_report.plot(EXACT, tmp_path / "bound.png")
