"""A figure for print, as the paper draws them: a metric against rounds, bytes or savings."""
# pyright: reportUnknownMemberType=false
# Matplotlib leaves parameters of its own functions without types.

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from lossyfl.extras import require
from lossyfl.report import savings, sheet
from lossyfl.report.curves import Floats, bands, curve
from lossyfl.report.groups import Group
from lossyfl.report.payload import of_metric
from lossyfl.report.styles import Style, styles
from lossyfl.results.task_facts import united
from lossyfl.tasks.metrics import ACCURACY, Metric, named

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

X = Literal["rounds", "bytes", "savings"]


def draw(
    groups: Sequence[Group],
    path: Path,
    *,
    x: X = "rounds",
    title: str | None = None,
    caption: str | None = None,
    metric: str | None = None,
) -> None:
    """Write a metric against rounds, against all bytes sent, or against savings, to a PNG, SVG or PDF file.

    metric: its name, and that of all tasks; None for the first of each task

    The file is the same, to the byte, for the same groups. Each task has axes of its own, three for savings:
    down, up and both ways. Groups without an evaluation are left out.
    """
    sheet.check_suffix(path)
    sheet.save(path, made(groups, x=x, title=title, caption=caption, metric=metric))


def made(
    groups: Sequence[Group],
    *,
    x: X = "rounds",
    title: str | None = None,
    caption: str | None = None,
    metric: str | None = None,
) -> "Figure":
    """The same as a figure of matplotlib's."""
    tasks = list(dict.fromkeys(group.task for group in groups))
    ways = tuple(savings.WORDS) if x == "savings" else ("",)
    shape = (max(len(tasks), 1), len(ways)) if x == "savings" else (1, max(len(tasks), 1))
    names = 2.6 if x == "savings" else 0.0  # inches beside the axes

    def fill(figure: "Figure") -> None:
        for place, (task, way) in enumerate(product(tasks, ways), start=1):
            axes = figure.add_subplot(*shape, place)
            own = [group for group in groups if group.task == task]
            if way:
                savings.plot(axes, own, way)
            else:
                _plot(axes, own, x, shown(own, metric))
            name = task if len(tasks) > 1 else title
            if name is not None:
                axes.set_title(name, fontsize=10, parse_math=False)
        if title is not None and len(tasks) > 1:
            figure.suptitle(title, fontsize=11, parse_math=False)
        if caption is not None:
            figure.supxlabel(caption, fontsize=8, x=0.02, ha="left", parse_math=False, wrap=True)

    return sheet.Plot(shape=shape, fill=fill, beside=names).figure()


def shown(groups: Sequence[Group], metric: str | None) -> Metric:
    """The metric of a task that is drawn; raises for one that it does not have."""
    known = united([group.metrics for group in groups]) or (ACCURACY,)
    return known[0] if metric is None else named(metric, known)


def _plot(axes: "Axes", groups: Sequence[Group], x: X, metric: Metric) -> None:
    """The curves of one task."""
    for group, style in zip(groups, styles(groups), strict=True):
        _line(axes, group, style, x, metric)
    _finish(axes, x, metric, bands(groups))


def _line(axes: "Axes", group: Group, style: Style, x: X, metric: Metric) -> None:
    values = curve(group, of_metric(metric))
    seen = ~np.isnan(values.mean)
    scale = 100 if metric.is_fraction else 1
    if not seen.any():
        return
    where = (_bytes(group) if x == "bytes" else np.arange(1.0, len(seen) + 1))[seen]
    (line,) = axes.plot(
        where,
        scale * values.mean[seen],
        color=style.light,
        linewidth=1.4,
        linestyle=(0, style.dash) if style.dash else "-",
        marker="o" if seen.sum() == 1 else None,
    )
    line.set_label(f" {group.label}")  # a first letter _ would hide it
    if len(group.runs) > 1:
        low, high = scale * values.low[seen], scale * values.high[seen]
        axes.fill_between(where, low, high, color=style.light, alpha=0.16, linewidth=0)


def _bytes(group: Group) -> Floats:
    """Bytes of both directions from the first round on."""
    return np.cumsum(curve(group, lambda record: record.handed.nbytes + record.up.nbytes).mean)


def _finish(axes: "Axes", x: X, metric: Metric, note: str) -> None:
    unit = f" ({metric.unit})" if metric.unit else ""
    axes.set_ylabel(f"Test {metric.name}{unit}", parse_math=False)
    axes.set_xlabel("Rounds" if x == "rounds" else "Bytes sent, both ways")
    if x == "bytes":
        ticker = require("matplotlib.ticker", extra="report")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(ticker.EngFormatter(unit="B"))
    axes.margins(x=0.01)
    sheet.legend(axes, note)
