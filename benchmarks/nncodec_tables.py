"""What the comparison with NNCodec finds out, and the tables and lines that it prints."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import mean, median

from lossyfl.report.text_table import TextTable

BEST = "best"
"""What we are compared with: NNCodec with the tools that make single updates shortest."""
MEAN, WORST, FASTER = 0.90, 1.05, 10
"""Goals: of its bytes in the mean and at the worst point, and of its speed both ways."""


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
    theirs: dict[str, float]

    @property
    def ratio(self) -> float:
        """Our bytes as a part of its."""
        return self.ours / self.theirs[BEST]

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
    encode: float
    decode: float


def tables(points: list[Point], speeds: list[Speed]) -> list[TextTable]:
    """All of them."""
    return [bytes_table(points), errors_table(points), tools_table(points), speeds_table(speeds)]


def bytes_table(points: list[Point]) -> TextTable:
    """A row per update, a column per rate."""
    title = "Our bytes as a part of NNCodec's at the same error, by the rate in bits per entry"
    return _by_rate(title, points, lambda point: f"{point.ratio:.2f}")


def errors_table(points: list[Point]) -> TextTable:
    """Where the points lie: our bits per entry, and the error."""
    title = "Our bits per entry / relative squared error"
    return _by_rate(title, points, lambda p: f"{8 * p.ours / p.entries:.2f} / {p.nmse:.2f}")


def tools_table(points: list[Point]) -> TextTable:
    """What each of NNCodec's tools is for: its bytes with others as a multiple of those with the best."""
    title = "NNCodec's bytes with other tools, as a multiple of those that we are compared with"
    some = [point for point in points if len(point.theirs) > 1]
    names = [name for name in (some[0].theirs if some else ()) if name != BEST]
    rows = [
        (rate, *(f"{mean(p.theirs[name] / p.theirs[BEST] for p in group):.3f}" for name in names))
        for rate, group in _groups(some, lambda point: f"{point.rate:g}")
    ]
    return TextTable(title=title, columns=("rate", *names), rows=rows)


def speeds_table(speeds: list[Speed]) -> TextTable:
    """A row per update that was timed."""
    rows = [
        (f"{each.source} {each.sent}", f"{each.rate:g}", f"{each.encode:.0f}", f"{each.decode:.0f}")
        for each in speeds
    ]
    title = "Our speed as a multiple of NNCodec's, one thread"
    return TextTable(title=title, columns=("update", "rate", "encode", "decode"), rows=rows)


def summary(points: list[Point], speeds: list[Speed]) -> list[str]:
    """What it comes to, and the goals."""
    ratios = [point.ratio for point in points]
    average, worst = mean(ratios), max(points, key=lambda point: point.ratio)
    smaller, near = sum(each < 1 for each in ratios), sum(each <= WORST for each in ratios)
    encodes, decodes = [each.encode for each in speeds], [each.decode for each in speeds]
    slowest = min((*encodes, *decodes), default=0.0)
    at = f"{worst.name}, {worst.rate:g} bits"
    both = f"encode {_range(encodes)}, decode {_range(decodes)}"
    return [
        f"our bytes / NNCodec's in the mean: {average:.3f}{_goal(average <= MEAN, MEAN)}",
        f"at the worst point: {worst.ratio:.3f}{_goal(worst.ratio <= WORST, WORST)}, {at}",
        f"of {len(points)} points we are smaller at {smaller}, at most {WORST} of its bytes at {near}",
        f"our speed / NNCodec's{_goal(slowest >= FASTER, FASTER)}: {both}",
    ]


def _goal(kept: bool, goal: float) -> str:
    return f" (goal {goal:g}: {'kept' if kept else 'missed'})"


def _range(values: list[float]) -> str:
    if not values:
        return "not timed"
    return f"{median(values):.0f}x in the median, {min(values):.0f} to {max(values):.0f}x"


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
