"""Figures of a sweep: what was measured against each setting, and heat maps of two.

A curve is the mean over seeds with its interval as a band. Lines of one plot differ in the next setting,
plots in all others; where these make more plots than fit, the mean over what they would tell apart is drawn.
"""
# pyright: reportUnknownMemberType=false
# Matplotlib leaves parameters of its own functions without types.

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

import numpy as np

from lossyfl.errors import InputError, one_of
from lossyfl.experiments.grid import Axis
from lossyfl.experiments.significance import interval
from lossyfl.experiments.sweep import SweepResult
from lossyfl.experiments.sweep_table import CONFIDENCE
from lossyfl.report import sheet
from lossyfl.report.styles import BLUE, GOLD, GREEN, INK, MARKERS, PURPLE, VERMILION
from lossyfl.tasks.metrics import Metric

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

PLOTS = 6
"""Plots of one figure, at the most."""
LINES = 8
"""Lines of one plot, at the most."""
DECADES = 8
"""How many times the smallest value the largest is where an axis is logarithmic."""
COLORS = tuple(pair[0] for pair in (BLUE, VERMILION, GREEN, PURPLE, GOLD, INK))
Values = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The values of some axes that a line or a plot has in common; empty for none."""

    axes: tuple[int, ...]
    values: Values

    def has(self, point: Values) -> bool:
        """Whether a point lies in it."""
        return all(point[at] == value for at, value in zip(self.axes, self.values, strict=True))

    def words(self, axes: Sequence[Axis]) -> str:
        """How it is called."""
        pairs = zip(self.axes, self.values, strict=True)
        return ", ".join(f"{axes[at].name} = {value}" for at, value in pairs)


def write_figures(result: SweepResult, folder: Path, confidence: float = CONFIDENCE) -> list[Path]:
    """All figures of a sweep as PNG and SVG files; a setting with one value has none."""
    crossed = [axis.name for axis in result.axes if len(axis.values) > 1]
    written: list[Path] = []
    for name in crossed:
        plot = plot_against(result, name, confidence)
        written += _both(folder / f"against-{name}", plot)
    for one, other in combinations(crossed, 2):
        written += _both(folder / f"heat-{one}-{other}", heat_map(result, one, other))
    return written


def _both(path: Path, plot: "sheet.Plot") -> list[Path]:
    paths = [path.with_name(f"{path.name}{suffix}") for suffix in (".png", ".svg")]
    for each in paths:
        sheet.write(each, plot.shape, plot.fill, beside=plot.beside)
    return paths


def plot_against(result: SweepResult, name: str, confidence: float = CONFIDENCE) -> "sheet.Plot":
    """What was measured against one setting, with intervals over seeds as bands."""
    along = _place(result, name)
    rest = [at for at in _crossed(result) if at != along]
    hue = next((at for at in rest if len(result.axes[at].values) <= LINES), None)
    others = [at for at in rest if at != hue]
    plots, averaged = _cuts(result, others)
    lines, _ = _cuts(result, [] if hue is None else [hue])

    def fill(figure: "Figure") -> None:
        for number, cut in enumerate(plots, start=1):
            axes = figure.add_subplot(*_shape(len(plots)), number)
            for place, line in enumerate(lines):
                _line(axes, result, along, (cut, line), place, confidence)
            _baselines(axes, result, cut)
            _name(axes, result, cut, averaged)
            _scale(axes, result.axes[along])
            axes.set_ylabel(_label(result.metric))
            sheet.legend(axes, f"band: {100 * confidence:g} % interval over seeds")

    return sheet.Plot(shape=_shape(len(plots)), fill=fill)


def heat_map(result: SweepResult, one: str, other: str) -> "sheet.Plot":
    """The mean of what was measured, by two settings: the first from left to right."""
    across, up = _place(result, one), _place(result, other)
    plots, averaged = _cuts(result, [at for at in _crossed(result) if at not in (across, up)])
    means = [_table(result, across, up, cut) for cut in plots]
    known = [value for table in means for value in table.ravel() if not np.isnan(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)

    def fill(figure: "Figure") -> None:
        images: list[AxesImage] = []
        for number, (cut, table) in enumerate(zip(plots, means, strict=True), start=1):
            axes = figure.add_subplot(*_shape(len(plots)), number)
            image = axes.imshow(
                table, vmin=low, vmax=high, cmap="viridis", aspect="auto", origin="lower"
            )
            images.append(image)
            _write_cells(axes, table, (low + high) / 2, result.metric)
            axes.grid(visible=False)
            axes.set_xticks(range(table.shape[1]), result.axes[across].values, parse_math=False)
            axes.set_yticks(range(table.shape[0]), result.axes[up].values, parse_math=False)
            axes.set_xlabel(one, parse_math=False)
            axes.set_ylabel(other, parse_math=False)
            _name(axes, result, cut, averaged)
        figure.colorbar(images[0], ax=figure.axes, label=_label(result.metric))

    return sheet.Plot(shape=_shape(len(plots)), fill=fill, beside=0.8)


def _write_cells(axes: "Axes", table: "np.ndarray", middle: float, metric: Metric) -> None:
    for (row, column), value in np.ndenumerate(table):
        said = (
            "failed"
            if np.isnan(value)
            else (f"{value:.2f}" if metric.is_fraction else f"{value:.4g}")
        )
        color = "black" if np.isnan(value) or value > middle else "white"
        axes.text(column, row, said, ha="center", va="center", fontsize=8, color=color)


def _table(result: SweepResult, across: int, up: int, cut: Cut) -> "np.ndarray":
    """A row for each value of the second axis; NaN where nothing came to anything."""
    columns, rows = result.axes[across].values, result.axes[up].values
    table = np.full((len(rows), len(columns)), np.nan)
    for (row, second), (column, first) in product(enumerate(rows), enumerate(columns)):
        chosen = Cut(axes=(across, up), values=(first, second))
        found = [v for seed in _by_seed(result, (cut, chosen)) for v in seed]
        if found:
            table[row, column] = fmean(found)
    return table


def _line(
    axes: "Axes",
    result: SweepResult,
    along: int,
    cuts: tuple[Cut, Cut],
    place: int,
    confidence: float,
) -> None:
    """One curve with its band."""
    axis, found = result.axes[along], list[tuple[float, float, float, float]]()
    for where, value in zip(_positions(axis), axis.values, strict=True):
        here = Cut(axes=(along,), values=(value,))
        means = [fmean(seed) for seed in _by_seed(result, (*cuts, here)) if seed]
        if means:
            of = interval(means, confidence)
            found.append((where, of.mean, of.low, of.high))
    if not found:
        return
    x, mean, low, high = (np.array(column) for column in zip(*found, strict=True))
    color = COLORS[place % len(COLORS)]
    marker = MARKERS[place % len(MARKERS)]
    (drawn,) = axes.plot(x, mean, color=color, marker=marker, markersize=4, linewidth=1.4)
    drawn.set_label(f" {cuts[1].words(result.axes) or 'mean over seeds'}")
    if result.metric.is_fraction:  # none is below 0 % or above 100 %
        low, high = np.clip(low, 0, 100), np.clip(high, 0, 100)
    axes.fill_between(x, low, high, color=color, alpha=0.14, linewidth=0)


def _baselines(axes: "Axes", result: SweepResult, cut: Cut) -> None:
    """A line for each baseline that fits a plot, where there are few."""
    drawn: set[float] = set()
    for point, outcomes in zip(result.plan.baselines, result.baselines, strict=True):
        fits = all(point.values[at] in ("", v) for at, v in zip(cut.axes, cut.values, strict=True))
        values = [
            _shown(each.value, result.metric)
            for each in outcomes
            if each and each.value is not None
        ]
        if fits and values and len(result.plan.baselines) <= LINES:
            drawn.add(fmean(values))
    for number, mean in enumerate(sorted(drawn)):
        line = axes.axhline(mean, color=INK[0], linewidth=0.9, linestyle="--")
        line.set_label(
            f" {result.plan.baselines[0].runs[0].experiment.scheme}" if not number else "_"
        )


def _by_seed(result: SweepResult, cuts: Sequence[Cut]) -> Iterator[list[float]]:
    """What was measured at the points of some cuts, a list for each seed."""
    inside = [
        number
        for number, point in enumerate(result.plan.points)
        if all(cut.has(point.values) for cut in cuts)
    ]
    for seed in range(len(result.plan.points[0].runs)):
        values = [result.values(number)[seed] for number in inside]
        yield [_shown(value, result.metric) for value in values if value is not None]


def _cuts(result: SweepResult, others: Sequence[int]) -> tuple[list[Cut], bool]:
    """A cut for each combination of these axes; one for all, and True, if there are too many."""
    every = list(product(*(result.axes[at].values for at in others)))
    if len(every) > max(PLOTS, LINES if len(others) == 1 else 0):
        return [Cut(axes=(), values=())], True
    return [Cut(axes=tuple(others), values=values) for values in every], False


def _crossed(result: SweepResult) -> list[int]:
    return [at for at, axis in enumerate(result.axes) if len(axis.values) > 1]


def _place(result: SweepResult, name: str) -> int:
    names = [axis.name for axis in result.axes]
    if name not in names:
        raise InputError("setting", of="a sweep's figure", allowed=one_of(names, name), got=name)
    return names.index(name)


def _shape(plots: int) -> tuple[int, int]:
    """Rows and columns of so many plots."""
    columns = min(plots, 3)
    return -(-plots // columns), columns


def _shown(value: float, metric: Metric) -> float:
    return 100 * value if metric.is_fraction else value


def _label(metric: Metric) -> str:
    return f"{metric.name} ({metric.unit})" if metric.unit else metric.name


def _name(axes: "Axes", result: SweepResult, cut: Cut, averaged: bool) -> None:
    words = "mean over the other settings" if averaged else cut.words(result.axes)
    if words:
        axes.set_title(words, fontsize=9, parse_math=False)


def _positions(axis: Axis) -> list[float]:
    """Where values stand: at themselves, or one after the other where one is no number."""
    return axis.numbers or [float(at) for at in range(len(axis.values))]


def _scale(axes: "Axes", axis: Axis) -> None:
    numbers = axis.numbers
    if numbers is not None and min(numbers) > 0 and max(numbers) >= DECADES * min(numbers):
        axes.set_xscale("log")
        axes.minorticks_off()
    axes.set_xticks(_positions(axis), axis.values)
    for label in axes.get_xticklabels():
        label.set_parse_math(False)
    axes.set_xlabel(axis.name, parse_math=False)
