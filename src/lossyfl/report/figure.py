"""A figure for print, as the paper draws them: accuracy against rounds, one line style a scheme."""
# pyright: reportUnknownMemberType=false
# Matplotlib leaves parameters of its own functions without types.

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from lossyfl.errors import InputError
from lossyfl.extras import require
from lossyfl.files.atomic import write_atomically
from lossyfl.report.curves import Curve, Floats, bands, curve
from lossyfl.report.groups import Group
from lossyfl.report.styles import Style, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SUFFIXES = (".png", ".svg", ".pdf")
X = Literal["rounds", "bytes"]

LOOK = {
    "font.size": 9.0,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e6ea",
    "grid.linewidth": 0.6,
    "xtick.direction": "in",
    "ytick.direction": "in",
    "xtick.top": True,
    "ytick.right": True,
    "legend.framealpha": 0.92,
    "legend.edgecolor": "#c9ccd3",
    "legend.fancybox": False,
    "svg.hashsalt": "lossyfl",  # the same names inside the file every time
    "pdf.fonttype": 42,
}


def draw(
    groups: Sequence[Group],
    path: Path,
    *,
    x: X = "rounds",
    title: str | None = None,
    caption: str | None = None,
) -> None:
    """Write accuracy against rounds, or against all bytes sent, to a PNG, SVG or PDF file.

    The file is the same, to the byte, for the same groups. Each task has axes of its own; groups
    without a look are left out.
    """
    if path.suffix not in SUFFIXES:
        allowed = f"one of {', '.join(SUFFIXES)}"
        raise InputError("suffix", of="a figure", allowed=allowed, got=path.name)
    matplotlib = require("matplotlib", extra="report")
    module = require("matplotlib.figure", extra="report")
    with matplotlib.rc_context(LOOK):
        tasks = list(dict.fromkeys(group.settings.task for group in groups))
        size = (5.2 * max(len(tasks), 1), 3.6)
        figure: Figure = module.Figure(figsize=size, layout="constrained")
        for place, task in enumerate(tasks, start=1):
            axes = figure.add_subplot(1, len(tasks), place)
            _plot(axes, [group for group in groups if group.settings.task == task], x)
            name = task if len(tasks) > 1 else title
            if name is not None:
                axes.set_title(name, fontsize=10, parse_math=False)
        if title is not None and len(tasks) > 1:
            figure.suptitle(title, fontsize=11, parse_math=False)
        if caption is not None:
            figure.supxlabel(caption, fontsize=8, x=0.02, ha="left", parse_math=False, wrap=True)
        image = io.BytesIO()
        figure.savefig(image, format=path.suffix[1:], dpi=200, metadata=_metadata(path.suffix))
    write_atomically(path, [image.getvalue()])


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
    return np.cumsum(curve(group, lambda record: record.down.nbytes + record.up.nbytes).mean)


def _finish(axes: "Axes", x: X, note: str) -> None:
    axes.set_ylabel("Test accuracy (%)")
    axes.set_xlabel("Rounds" if x == "rounds" else "Bytes sent, both ways")
    if x == "bytes":
        ticker = require("matplotlib.ticker", extra="report")
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter(ticker.EngFormatter(unit="B"))
    axes.margins(x=0.01)
    if axes.get_lines():
        legend = axes.legend(
            loc="best",
            fontsize=7.5,
            handlelength=2.8,
            alignment="left",
            title=note,
            title_fontsize=7.0,
        )
        for text in legend.get_texts():
            text.set_parse_math(False)  # a $ in a name is a $


def _metadata(suffix: str) -> dict[str, None]:
    """What would differ from one day or version to the next is left out."""
    names = {".png": ("Software",), ".svg": ("Date", "Creator"), ".pdf": ("CreationDate",)}
    return dict.fromkeys(names[suffix])
