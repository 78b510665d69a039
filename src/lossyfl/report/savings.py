"""A metric against savings, down, up and both: a point for every group, those of one kind joined.

Both ways is as a device counts that hears a broadcast and replies: two models of floats over both frames.

Groups of one kind whose servers step in different ways are not joined. Right is fewer bytes. A dashed line
joins the points of the paper's own system where the paper would count them.

Of an accuracy, points far below the others stand at the lower edge with their value, and lines mark lossless
links and half a point below. Other metrics have no scale on which that could be said: all points are shown.
"""
# pyright: reportUnknownMemberType=false
# Matplotlib leaves parameters of its own functions without types.

import math
from collections import defaultdict
from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import cycle
from statistics import fmean
from typing import TYPE_CHECKING, Literal

from lossyfl.extras import require
from lossyfl.registry import items
from lossyfl.report import sheet
from lossyfl.report.groups import FAMILIES, Group
from lossyfl.report.rows import Both, ends, row
from lossyfl.report.styles import FAMILY, INK, MARKERS, OTHERS, Style
from lossyfl.results.task_facts import united
from lossyfl.tasks.metrics import ACCURACY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Way = Literal["down", "up", "both"]
WORDS: dict[Way, str] = {"down": "down", "up": "up", "both": "both ways"}

TOLERANCE = 0.5
"""Points of accuracy below lossless links that a line marks."""
DEPTH = 12.0
"""Points of accuracy below the best that are shown; what has fallen lower is named at the edge."""
MARGIN = 0.5
"""Points of accuracy below the lowest that is shown."""
COLORS = OTHERS[:8]
"""One of every colour; markers tell apart those that come again."""
LINE = 7
"""Points of type from one name at the edge to the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """Times fewer bytes than 32-bit floats, by ours and by the paper's count, and the metric as shown."""

    seeds: int
    server: str
    saving: float
    paper: float | None
    mean: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallen:
    """A point that is too low to be shown, and what is said of it at the edge."""

    saving: float
    words: str
    color: str


def kind(group: Group, *, models: bool = True) -> str:
    """What groups share: the paper's system, or the quantizers of ours, whatever their rates and levels.

    models: whether groups differ in whose model is evaluated
    """
    model = group.settings.evaluate if models and group.settings.evaluate != "server" else ""
    if group.family != "lean":
        name = group.family if group.family in FAMILIES else group.settings.scheme
        return ", ".join(filter(None, (name, model)))
    options = _options(group)
    names = [options.get(way, "deadzone").partition("(")[0] for way in ("down", "up")]
    first = "small initial model" if "first_budget" in options else ""
    predicted = "predicted" if options.get("predict", "").lower() == "true" else ""
    quantizers = " / ".join(dict.fromkeys(names))
    return ", ".join(filter(None, ("lean", quantizers, first, predicted, model)))


def server(group: Group) -> str:
    """How the server steps: groups that differ in it are not joined."""
    own = {key: value for key, value in _options(group).items() if key.startswith("server_")}
    return ",".join(f"{key}={own[key]}" for key in sorted(own))


def _options(group: Group) -> dict[str, str]:
    pairs = (item.partition("=") for item in items(group.settings.scheme.partition(":")[2]))
    return {key: value for key, _, value in pairs}


def points(groups: Sequence[Group], way: Way) -> dict[str, list[Point]]:
    """The points of every kind, from few savings to many; groups without an evaluation have none."""
    found: defaultdict[str, list[Point]] = defaultdict(list)
    models = len({group.settings.evaluate for group in groups}) > 1
    for group in groups:
        facts, closing = row(group), ends(group)
        saving = along(facts.saving, way)
        if saving is None or saving <= 0 or not closing:
            continue
        scale = 100 if facts.metric.is_fraction else 1
        made = Point(
            seeds=len(closing),
            server=server(group),
            saving=saving,
            paper=along(facts.paper, way),
            mean=scale * fmean(closing),
            low=scale * min(closing),
            high=scale * max(closing),
        )
        found[kind(group, models=models)].append(made)
    return {name: sorted(own, key=lambda p: p.saving) for name, own in found.items()}


def along(savings: Both, way: Way) -> float | None:
    """The saving of one way."""
    if way != "both":
        return savings.down if way == "down" else savings.up
    if not savings.down or not savings.up:
        return None
    return 2 / (1 / savings.down + 1 / savings.up)


def plot(axes: "Axes", groups: Sequence[Group], way: Way) -> None:
    """The points of one task and one way."""
    found = points(groups, way)
    every = [point for own in found.values() for point in own]
    metric = united([group.metrics for group in groups])[0] if groups else ACCURACY
    in_points = metric.is_fraction and metric.better == "higher"
    floor = _floor([point.mean for point in every]) if in_points else -math.inf
    taken = {style.light for name, style in FAMILY.items() if name in found}
    others = cycle(sorted(COLORS, key=lambda style: style.light in taken))
    fallen: list[Fallen] = []
    taken_markers: set[tuple[str, str]] = set()
    for number, (name, own) in enumerate(found.items()):
        style = FAMILY[name] if name in FAMILY else next(others)
        marker = _marker(number, style, taken_markers)
        taken_markers.add((style.light, marker))
        fallen += _series(axes, name, own, style, marker, floor)
    lossless = [p for name, own in found.items() if name.startswith("lossless") for p in own]
    if lossless:
        surest = max(lossless, key=lambda point: (point.seeds, metric.sign * point.mean)).mean
        axes.axhline(surest, color=INK[0], linewidth=0.6, alpha=0.5)
        if in_points:
            axes.axhline(surest - TOLERANCE, color=INK[0], linewidth=0.6, linestyle=":")
    axes.set_xscale("log")
    formatter = require("matplotlib.ticker", extra="report").FuncFormatter(_times)
    axes.xaxis.set_major_formatter(formatter)
    axes.xaxis.set_minor_formatter(formatter)
    axes.tick_params(axis="x", which="minor", labelsize=6)
    axes.set_xlabel(f"Times fewer bytes {WORDS[way]}, the initial model included")
    unit = f" ({metric.unit})" if metric.unit else ""
    axes.set_ylabel(f"Test {metric.name}{unit}, last 10 rounds", parse_math=False)
    if fallen:
        axes.set_ylim(bottom=floor - MARGIN)
        _name(axes, fallen, floor)
    if way == "both":  # one for all: they show the same kinds
        sheet.legend(axes, "bars: minimum to maximum of seeds", beside=True)


def _marker(number: int, style: Style, taken: Container[tuple[str, str]]) -> str:
    """The next marker that no kind of this colour has, as long as there is one."""
    turn = [MARKERS[(number + step) % len(MARKERS)] for step in range(len(MARKERS))]
    return next((each for each in turn if (style.light, each) not in taken), turn[0])


def _floor(means: Sequence[float]) -> float:
    """Below all but those that have fallen too low."""
    best = max(means, default=100.0)
    return min((mean for mean in means if mean >= best - DEPTH), default=best) - MARGIN


def _times(value: float, _: object) -> str:
    return f"{value:g}x" if f"{value:e}"[0] in "125" else ""


def _series(
    axes: "Axes", name: str, own: Sequence[Point], style: Style, marker: str, floor: float
) -> list[Fallen]:
    """Draw the points of one kind, joined; return those at the edge that have fallen too low."""
    shown = [point for point in own if point.mean >= floor]
    for number, step in enumerate(dict.fromkeys(point.server for point in shown)):
        joined = [point for point in shown if point.server == step]
        below = [max(point.mean - point.low, 0.0) for point in joined]
        above = [max(point.high - point.mean, 0.0) for point in joined]
        axes.errorbar(
            [point.saving for point in joined],
            [point.mean for point in joined],
            yerr=[below, above],
            color=style.light,
            marker=marker,
            markersize=4,
            linewidth=1.0,
            elinewidth=0.8,
            label=f" {name}" if number == 0 else None,
        )
        if name.partition(",")[0] == "lfl":
            _by_the_papers_count(axes, name if number == 0 else None, joined, style, marker)
    fallen = [point for point in own if point.mean < floor]
    for point in fallen:
        axes.plot([point.saving], [floor], color=style.light, marker=7, markersize=5)
    return [
        Fallen(saving=point.saving, words=f"{name} {point.mean:.0f} %", color=style.light)
        for point in fallen
    ]


def _name(axes: "Axes", fallen: Sequence[Fallen], floor: float) -> None:
    """The names of fallen points, above each other and to the side that has room."""
    low, high = axes.get_xlim()
    middle = (low * high) ** 0.5
    for line, point in enumerate(sorted(fallen, key=lambda point: point.saving)):
        left = point.saving > middle
        axes.annotate(
            point.words,
            (point.saving, floor),
            xytext=(-4 if left else 4, LINE * line),
            textcoords="offset points",
            horizontalalignment="right" if left else "left",
            fontsize=6,
            color=point.color,
            parse_math=False,
        )


def _by_the_papers_count(
    axes: "Axes", name: str | None, shown: Sequence[Point], style: Style, marker: str
) -> None:
    """The same points where the paper would count them; named unless they have been before."""
    counted = [(point.paper, point.mean) for point in shown if point.paper is not None]
    axes.plot(
        [x for x, _ in counted],
        [y for _, y in counted],
        color=style.light,
        marker=marker,
        markersize=5,
        markerfacecolor="white",
        linewidth=0.8,
        linestyle="--",
        label=None if name is None else f" {name}, by the paper's count",
    )
