"""What the comparison with NNCodec finds out, and the tables and lines that it prints."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import mean, median
from typing import TypeAlias

from benchmarks.updates import Update
from lossyfl.report.text_table import TextTable

BEST = "at its best"
"""NNCodec with the tools that make single updates shortest."""
PLAIN = "as it comes"
"""With what its simplest interface asks for."""
TEMPORAL = "temporal"
"""At its best, and with contexts of the update of the round before."""
RIVALS = (BEST, PLAIN, TEMPORAL)
Options: TypeAlias = dict[str, float]
MEAN, WORST, FASTER = 0.90, 1.05, 10
"""Goals: of its bytes in the mean and at the worst point, and of its speed both ways."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """NNCodec's bytes at an error, and the options next to it."""

    nbytes: float
    options: Options


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """An update at a rate: our bytes, and NNCodec's at the same error with some of its tools."""

    source: str
    sent: str
    round: int
    entries: int
    rate: float
    nmse: float
    ours: int
    theirs: dict[str, Found]

    def ratio(self, tool: str = BEST) -> float:
        """Our bytes as a part of its."""
        return self.ours / self.theirs[tool].nbytes

    def is_of(self, update: Update) -> bool:
        """Whether it is one of an update."""
        return (self.source, self.sent, self.round) == (update.source, update.sent, update.round)

    @property
    def name(self) -> str:
        """Which update it is."""
        return f"{self.source} {self.sent}, round {self.round}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """How many times as fast we make a frame, and read it."""

    source: str
    sent: str
    rate: float
    tool: str
    encode: float
    decode: float


def tables(points: list[Point], speeds: list[Speed]) -> list[TextTable]:
    """All of them."""
    compared = [bytes_table(points, tool) for tool in RIVALS]
    return [*compared, errors_table(points), tools_table(points), speeds_table(speeds)]


def bytes_table(points: list[Point], tool: str) -> TextTable:
    """A row per update, a column per rate."""
    title = f"Our bytes as a part of NNCodec's {tool}, at the same error, by the rate in bits"
    some = [point for point in points if tool in point.theirs]
    return _by_rate(title, some, lambda point: f"{point.ratio(tool):.2f}")


def errors_table(points: list[Point]) -> TextTable:
    """Where the points lie: our bits per entry, and the error."""
    title = "Our bits per entry / relative squared error"
    return _by_rate(title, points, lambda p: f"{8 * p.ours / p.entries:.2f} / {p.nmse:.2f}")


def tools_table(points: list[Point]) -> TextTable:
    """What each of NNCodec's tools is for: its bytes with others as a multiple of those at its best."""
    some = [point for point in points if len(point.theirs) > len((BEST, PLAIN))]
    names = [tool for tool in (some[0].theirs if some else ()) if tool != BEST]
    rows = [
        (rate, *(f"{mean(p.ratio(BEST) / p.ratio(name) for p in group):.2f}" for name in names))
        for rate, group in _groups(some, lambda point: f"{point.rate:g}")
    ]
    title = f"NNCodec's bytes as a multiple of those {BEST}, means"
    return TextTable(title=title, columns=("rate", *names), rows=rows)


def speeds_table(speeds: list[Speed]) -> TextTable:
    """A row per update and rate that was timed."""
    timed: dict[tuple[str, str], list[str]] = {}
    for each in speeds:
        row = timed.setdefault((f"{each.source} {each.sent}", f"{each.rate:g}"), [])
        row.append(f"{each.encode:.1f} / {each.decode:.1f}")
    tools = dict.fromkeys(each.tool for each in speeds)
    title = "Our speed as a multiple of NNCodec's, encode / decode, one thread"
    rows = [(*named, *cells) for named, cells in timed.items()]
    return TextTable(title=title, columns=("update", "rate", *tools), rows=rows)


def summary(points: list[Point], speeds: list[Speed]) -> list[str]:
    """What it comes to, and the goals."""
    lines = [_bytes_line([p for p in points if tool in p.theirs], tool) for tool in RIVALS]
    for tool in dict.fromkeys(each.tool for each in speeds):
        encodes, decodes = zip(
            *((each.encode, each.decode) for each in speeds if each.tool == tool), strict=True
        )
        goal = _goal(min(*encodes, *decodes) >= FASTER, FASTER)
        lines.append(
            f"our speed / NNCodec's {tool}: encode {_range(encodes)}, decode {_range(decodes)}{goal}"
        )
    return lines


def _bytes_line(points: list[Point], tool: str) -> str:
    ratios = [point.ratio(tool) for point in points]
    average, worst = mean(ratios), max(points, key=lambda point: point.ratio(tool))
    most = worst.ratio(tool)
    return (
        f"our bytes / NNCodec's {tool}: {average:.2f} in the mean{_goal(average <= MEAN, MEAN)}, "
        f"{most:.2f} at the worst{_goal(most <= WORST, WORST)}, {worst.name}, {worst.rate:g} bits; "
        f"smaller at {sum(each < 1 for each in ratios)} of {len(points)} points"
    )


def _goal(kept: bool, goal: float) -> str:
    return f" (goal {goal:g}: {'kept' if kept else 'missed'})"


def _range(values: tuple[float, ...]) -> str:
    return f"{median(values):.1f}x in the median, {min(values):.1f} to {max(values):.1f}x"


def _by_rate(title: str, points: list[Point], cell: Callable[[Point], str]) -> TextTable:
    rates = sorted({point.rate for point in points})
    rows: list[list[str]] = []
    for name, group in _groups(points, lambda point: point.name):
        cells = {point.rate: cell(point) for point in group}
        rows.append([name, *(cells.get(rate, "") for rate in rates)])
    columns = ("update", *(f"{rate:g}" for rate in rates))
    return TextTable(title=title, columns=columns, rows=rows)


def _groups(points: list[Point], key: Callable[[Point], str]) -> Iterable[tuple[str, list[Point]]]:
    names = list(dict.fromkeys(key(point) for point in points))
    return [(name, [point for point in points if key(point) == name]) for name in names]
