"""A figure for print, as the paper draws them: accuracy against rounds, bytes or savings."""
# pyright: reportUnknownMemberType=false
# Matplotlib leaves parameters of its own functions without types.

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from lossyfl.extras import require
from lossyfl.report import savings, sheet
from lossyfl.report.curves import Curve, Floats, bands, curve
from lossyfl.report.groups import Group
from lossyfl.report.styles import Style, styles

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
) -> None:
    """Write accuracy against rounds, against all bytes sent, or against savings, to a PNG, SVG or PDF file.

    The file is the same, to the byte, for the same groups. Each task has axes of its own, three for savings:
    down, up and both ways. Groups without an evaluation are left out.
    """
    tasks = list(dict.fromkeys(group.settings.task for group in groups))
    ways = tuple(savings.WORDS) if x == "savings" else ("",)
    shape = (max(len(tasks), 1), len(ways)) if x == "savings" else (1, max(len(tasks), 1))
    names = 2.6 if x == "savings" else 0.0  # inches beside the axes

    def fill(figure: "Figure") -> None:
        for place, (task, way) in enumerate(product(tasks, ways), start=1):
            axes = figure.add_subplot(*shape, place)
            own = [group for group in groups if group.settings.task == task]
            if way:
                savings.plot(axes, own, way)
            else:
                _plot(axes, own, x)
            name = task if len(tasks) > 1 else title
            if name is not None:
                axes.set_title(name, fontsize=10, parse_math=False)
        if title is not None and len(tasks) > 1:
            figure.suptitle(title, fontsize=11, parse_math=False)
        if caption is not None:
            figure.supxlabel(caption, fontsize=8, x=0.02, ha="left", parse_math=False, wrap=True)

    sheet.write(path, shape, fill, beside=names)


def _plot(axes: "Axes", groups: Sequence[Group], x: X) -> None:
    """The curves of one task."""
    for group, style in zip(groups, styles(groups), strict=True):
        _line(axes, group, style, x)
    _finish(axes, x, bands(groups))


def _line(axes: "Axes", group: Group, style: Style, x: X) -> None:
    accuracy = curve(group, lambda record: record.accuracy)
    seen = ~np.isnan(accuracy.mean)
    if not seen.any():
        return
    where = (_bytes(group) if x == "bytes" else np.arange(1.0, len(seen) + 1))[seen]
    (line,) = axes.plot(
        where,
        100 * accuracy.mean[seen],
        color=style.light,
        linewidth=1.4,
        linestyle=(0, style.dash) if style.dash else "-",
        marker="o" if seen.sum() == 1 else None,
    )
    line.set_label(f" {group.label}")  # a first letter _ would hide it
    if len(group.runs) > 1:
        _band(axes, where, accuracy, seen, style.light)


def _band(axes: "Axes", x: Floats, curve: Curve, seen: "np.ndarray", color: str) -> None:
    low, high = 100 * curve.low[seen], 100 * curve.high[seen]
    axes.fill_between(x, low, high, color=color, alpha=0.16, linewidth=0)


def _bytes(group: Group) -> Floats:
    """Bytes of both directions from the first round on."""
    return np.cumsum(curve(group, lambda record: record.handed.nbytes + record.up.nbytes).mean)


def _finish(axes: "Axes", x: X, note: str) -> None:
    axes.set_ylabel("Test accuracy (%)")
    axes.set_xlabel("Rounds" if x == "rounds" else "Bytes sent, both ways")
    if x == "bytes":
        ticker = require("matplotlib.ticker", extra="report")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(ticker.EngFormatter(unit="B"))
    axes.margins(x=0.01)
    sheet.legend(axes, note)
