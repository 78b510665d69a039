"""Runs as a notebook shows them: a small table, and the first metric against rounds. All is escaped."""

import math
from collections.abc import Sequence

import numpy as np

from lossyfl.report import text
from lossyfl.report.curves import Curve, Floats, curve
from lossyfl.report.groups import Group
from lossyfl.report.markup import Markup, tag
from lossyfl.report.payload import of_metric
from lossyfl.report.rows import row
from lossyfl.report.styles import INK, Style, styles
from lossyfl.report.tables import metrics_of

WIDTH, HEIGHT = 520, 220
LEFT, RIGHT, TOP, BOTTOM = 64, 10, 10, 30
POINTS = 200
"""Of a curve, at most: a notebook keeps what it shows."""


def shown(groups: Sequence[Group]) -> str:
    """A table and a plot for each task."""
    parts: list[Markup] = []
    for task in dict.fromkeys(group.task for group in groups):
        own = [group for group in groups if group.task == task]
        parts += [tag("p", tag("b", task)), table(own), plot(own)]
    return tag("div", *parts).html


def table(groups: Sequence[Group]) -> Markup:
    """A row for each group: last evaluation, bytes and savings."""
    metrics = metrics_of(groups)
    names = ("scheme", "seeds", "rounds", *(each.name for each in metrics), "down", "up", "saving")
    lines: list[Markup] = []
    for group, style in zip(groups, styles(groups), strict=True):
        facts = row(group)
        values = {each.name: value for each, value in ((facts.metric, facts.last), *facts.more)}
        saving = f"{text.times(facts.saving.down)} down, {text.times(facts.saving.up)} up"
        cells = (
            str(len(facts.seeds)),
            str(facts.rounds),
            *(each.text(values.get(each.name)) for each in metrics),
            text.size(facts.nbytes.down or 0),
            text.size(facts.nbytes.up or 0),
            saving,
        )
        swatch = tag("span", "\u25a0 ", style=f"color:{_colour(style)}")
        name = tag("td", swatch, facts.label, style="text-align:left")
        lines.append(tag("tr", name, *(tag("td", cell) for cell in cells)))
    head = tag("tr", *(tag("th", name) for name in names))
    return tag("table", tag("thead", head), tag("tbody", *lines))


def plot(groups: Sequence[Group]) -> Markup:
    """The first metric of a task against rounds, the mean over seeds with its band."""
    metric = groups[0].metric
    scale = 100 if metric.is_fraction else 1
    curves = [_times(curve(group, of_metric(metric)), scale) for group in groups]
    every = np.concatenate([np.r_[each.low, each.high] for each in curves])
    every = every[np.isfinite(every)]
    rounds = max(len(each.mean) for each in curves)
    if not len(every):
        return tag("p", "Nothing was evaluated.")
    place = _Place(rounds, float(every.min()), float(every.max()))
    drawn = [
        _line(each, group, style, place)
        for each, group, style in zip(curves, groups, styles(groups), strict=True)
    ]
    unit = f" ({metric.unit})" if metric.unit else ""
    about = tag("title", f"Test {metric.name}{unit} against rounds")
    return tag(
        "svg",
        about,
        *_axes(place, f"{metric.name}{unit}"),
        *drawn,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        width=str(WIDTH),
        height=str(HEIGHT),
        role="img",
        style="max-width:100%;font:11px sans-serif",
    )


class _Place:
    """Where a round and a value are in the plot."""

    def __init__(self, rounds: int, low: float, high: float) -> None:
        pad = 0.05 * (high - low) or 0.05 * abs(high) or 1.0
        self.rounds, self.low, self.high = rounds, low - pad, high + pad

    def x(self, round: float) -> float:
        """Of a round, from 1 on."""
        return LEFT + (WIDTH - LEFT - RIGHT) * (round - 1) / max(self.rounds - 1, 1)

    def y(self, value: float) -> float:
        """Of a value, upwards."""
        part = (value - self.low) / (self.high - self.low)
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part

    def points(self, rounds: Sequence[int], values: Floats) -> str:
        """As SVG has them."""
        pairs = zip(rounds, values.tolist(), strict=True)
        return " ".join(f"{self.x(t + 1):.1f},{self.y(value):.1f}" for t, value in pairs)


def _line(curve: Curve, group: Group, style: Style, place: _Place) -> Markup:
    seen = np.flatnonzero(np.isfinite(curve.mean))
    seen = seen[:: max(1, math.ceil(len(seen) / POINTS))] if len(seen) else seen
    rounds, colour = seen.tolist(), _colour(style)
    parts = [tag("title", group.label)]
    if len(group.runs) > 1:
        there = place.points(rounds, curve.low[seen])
        back = place.points(rounds[::-1], curve.high[seen][::-1])
        parts.append(tag("polygon", points=f"{there} {back}", fill=colour, opacity="0.15"))
    points = place.points(rounds, curve.mean[seen])
    if len(rounds) == 1:
        x, _, y = points.partition(",")
        parts.append(tag("circle", cx=x, cy=y, r="3", fill=colour))
    dashes = " ".join(f"{length:g}" for length in style.dash) or None
    parts.append(
        tag(
            "polyline",
            points=points,
            fill="none",
            stroke=colour,
            stroke_width="1.6",
            stroke_dasharray=dashes,
        )
    )
    return tag("g", *parts)


def _axes(place: _Place, name: str) -> list[Markup]:
    base, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = [
        tag("path", d=f"M{LEFT} {TOP}V{base}H{right}", fill="none", stroke="currentColor"),
        _words(name, LEFT + 6, TOP + 8, "start"),
        _words("rounds", right, HEIGHT - 4, "end"),
        _words(str(place.rounds), right, base + 14, "end"),
        _words("1", LEFT, base + 14, "middle"),
    ]
    for part in (0.1, 0.5, 0.9):
        value = place.low + part * (place.high - place.low)
        y = place.y(value)
        parts.append(_words(f"{value:.4g}", LEFT - 6, y + 4, "end"))
        parts.append(tag("path", d=f"M{LEFT - 3} {y:.1f}h3", stroke="currentColor"))
    return parts


def _words(words: str, x: float, y: float, anchor: str) -> Markup:
    where = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text_anchor": anchor}
    return tag("text", words, **where, fill="currentColor")


def _times(found: Curve, scale: int) -> Curve:
    return Curve(mean=scale * found.mean, low=scale * found.low, high=scale * found.high)


def _colour(style: Style) -> str:
    """That of the notebook's text where it would be black: some are light on dark."""
    return "currentColor" if style.light == INK[0] else style.light
