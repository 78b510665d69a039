"""Figures of a sweep."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.experiments.made_up import made_up, planned

from lossyfl import InputError
from lossyfl.experiments.sweep_figures import heat_map, plot_against, write_figures
from lossyfl.report.sheet import Plot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

VALUES = [[0.5 + 0.03 * k, 0.52 + 0.03 * k] for k in range(12)]


def axes_of_plot(plot: Plot) -> "list[Axes]":
    return plot.figure().axes


def lines(axes: "Axes") -> dict[str, list[float]]:
    return {
        str(line.get_label()).strip(): np.asarray(line.get_ydata()).tolist()
        for line in axes.get_lines()
    }


def test_lines_by_the_next_setting_plots_by_the_others(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"q1": [1, 5, 50], "tau": [1, 4], "devices": [5, 10]}, seeds=2)
    result = made_up(plan, VALUES)
    first, second = axes_of_plot(plot_against(result, "q1"))
    assert (first.get_title(), second.get_title()) == ("devices = 5", "devices = 10")
    assert list(lines(first)) == ["tau = 1", "tau = 4"]
    assert lines(first)["tau = 1"] == pytest.approx([51, 63, 75])  # means over seeds, in percent
    assert first.get_xscale() == "log"  # from 1 to 50
    assert len(first.collections) == 2  # a band each
    assert axes_of_plot(plot_against(result, "tau"))[0].get_xscale() == "linear"


def test_texts_stand_one_after_the_other(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"scheme": ["lossless", "lfl"]}, seeds=2, baseline="lossless")
    (axes,) = axes_of_plot(plot_against(made_up(plan, VALUES[:2], (0.9, 0.9)), "scheme"))
    assert [label.get_text() for label in axes.get_xticklabels()] == ["lossless", "lfl"]
    assert lines(axes)["lossless"] == [90, 90]  # the baseline, across


def test_no_band_leaves_what_an_accuracy_can_be(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"q1": [1, 5]}, seeds=2)
    (axes,) = axes_of_plot(plot_against(made_up(plan, [[0.1, 0.9], [0.97, 0.99]]), "q1"))
    low, high = axes.collections[0].get_datalim(axes.transData).intervaly
    assert (low, high) == (0, 100)


def test_too_many_plots_become_their_mean(tmp_path: Path) -> None:
    axes = {"q1": [1, 5], "tau": [1, 2], "q2": [1, 2, 3], "devices": [2, 4, 5]}
    plan = planned(tmp_path, axes, seeds=1)
    values = [[0.01 * k] for k in range(36)]
    (shown,) = axes_of_plot(plot_against(made_up(plan, values), "q1"))
    assert shown.get_title() == "mean over the other settings"
    assert lines(shown)["tau = 1"] == pytest.approx([4, 22])


def test_a_heat_map_has_a_cell_for_each_pair(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"q1": [1, 2, 5], "tau": [1, 4]}, seeds=2)
    result = made_up(plan, [*VALUES[:5], [None, None]])
    axes, _bar = axes_of_plot(heat_map(result, "q1", "tau"))
    cells = [text.get_text() for text in axes.texts]
    assert cells == ["51.00", "57.00", "63.00", "54.00", "60.00", "failed"]
    with pytest.raises(InputError, match=r"setting of a sweep's figure must be one of q1, tau"):
        heat_map(result, "q1", "q3")


def test_files_are_the_same_to_the_byte(tmp_path: Path) -> None:
    plan = planned(tmp_path, {"q1": [1, 2], "tau": [1, 4], "devices": [10]}, seeds=2)
    written = write_figures(made_up(plan, VALUES[:4]), tmp_path)
    assert [path.name for path in written] == [
        "against-q1.png", "against-q1.svg", "against-tau.png", "against-tau.svg",
        "heat-q1-tau.png", "heat-q1-tau.svg",
    ]  # fmt: skip
    before = [path.read_bytes() for path in written]
    again = write_figures(made_up(plan, VALUES[:4]), tmp_path)
    assert [path.read_bytes() for path in again] == before
