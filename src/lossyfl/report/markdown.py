"""A report as Markdown: results, broadcasts, time over a link, settings and commands."""

import re
from collections.abc import Iterable, Sequence

from lossyfl.errors import printable
from lossyfl.report import text
from lossyfl.report.break_even import downlink, uplink
from lossyfl.report.carrier import HEADS, carried
from lossyfl.report.device_table import ABOUT, cells
from lossyfl.report.device_table import HEADS as DEVICE_HEADS
from lossyfl.report.groups import Group
from lossyfl.report.link import LinkSpeeds, elapsed, load
from lossyfl.report.rows import EVALUATIONS, ROUNDS, Both, GroupRow, row
from lossyfl.report.tables import metrics_of
from lossyfl.tasks.metrics import Metric

HEAD = (
    "scheme", "seeds", "rounds", "{metric}", f"last {EVALUATIONS} evaluations", f"last {ROUNDS} rounds",
    "best",
)  # fmt: skip
COSTS = (
    "down",
    "up",
    "saving down / up",
    "paper's count down / up",
    "bits per entry down / up",
    "time",
)

NOTE = f"""
{{metric}} is that of the last evaluation on the test set, the mean over seeds; then the mean and standard
deviation of the last {EVALUATIONS} evaluations of all seeds, the mean over evaluations of the last
{ROUNDS} rounds, and the best evaluation{{better}}. Bytes are those of frames, {{counted}};
savings are against 32-bit floats, and by the paper's count of 33 bits per entry over R_Q.
"""
ONCE = "a broadcast counted once"
TO_EACH = "counted for every device that is sent them, as are models of floats, one per round"
EITHER = f"{ONCE}; where only participants listen, or messages carry them, {TO_EACH}"

MEASURED = """Medians over rounds: the norm of what quantizing lost over that of what was given; the largest
magnitude over the root mean square; the norm of what the broadcast's quantizer was given, and what devices
then missed, ||theta - theta_hat||; and ||delta_m|| over the norm of a quantized reply.
"""


def markdown(groups: Sequence[Group], note: str = "", link: LinkSpeeds | None = None) -> str:
    """Tables for each task; with a link, also what would take how long over it."""
    tasks = dict.fromkeys(group.task for group in groups)
    parts = [f"{_escaped(note)}\n"] if note else []
    for task in tasks:
        own = [group for group in groups if group.task == task]
        parts += [f"### {_escaped(task)}\n", _results(own), _note(own), _broadcasts(own)]
        if any(row(group).peaks[0] is not None for group in own):
            parts += [_measured(own), MEASURED]
        parts += [_carried(own)] if any(map(carried, own)) else []
        parts += [_per_device(own)] if any(map(cells, own)) else []
        if link is not None:
            parts += [_times(own, link), _break_even(own)]
    parts.append(_commands(groups))
    return "\n".join(parts)


def _note(groups: Sequence[Group]) -> str:
    metric = groups[0].metric
    name = _escaped(metric.name)
    ways = {group.to_each for group in groups}
    return NOTE.lstrip().format(
        metric=name[:1].upper() + name[1:],
        better="" if metric.better == "higher" else "; lower is better",
        counted=EITHER if len(ways) > 1 else TO_EACH if True in ways else ONCE,
    )


def tail(facts: GroupRow) -> str:
    """The mean of the last evaluations, and their standard deviation."""
    if facts.tail is None:
        return text.MISSING
    shown = facts.metric.number
    spread = "" if facts.spread is None else f" ± {shown(facts.spread)}"
    return " ".join(filter(None, (f"{shown(facts.tail)}{spread}", facts.metric.unit)))


def _results(groups: Sequence[Group]) -> str:
    metric, *more = metrics_of(groups)
    head = (name.format(metric=metric.name) if name == "{metric}" else name for name in HEAD)
    heads = (*map(_escaped, head), *(_escaped(each.name) for each in more), *COSTS)
    return _table(heads, (_cells(row(group), more) for group in groups))


def _cells(facts: GroupRow, more: Sequence[Metric]) -> list[str]:
    others = {each.name: value for each, value in facts.more}
    shown = facts.metric.text
    of = f" ({len(facts.seeds)} of {len(facts.seeds) + facts.others})" if facts.others else ""
    return [
        facts.label,
        text.numbers(facts.seeds) + of,
        str(facts.rounds),
        shown(facts.last),
        tail(facts),
        shown(facts.end),
        shown(facts.best),
        *(each.text(others.get(each.name)) for each in more),
        text.size_down(facts.nbytes.down or 0, facts.catch_up),
        text.size(facts.nbytes.up or 0),
        _both(facts.saving, "x", 1),
        _both(facts.paper, "x", 1),
        _both(facts.bits, "", 2),
        text.duration(facts.seconds),
    ]


def _broadcasts(groups: Sequence[Group]) -> str:
    """The downlink once devices hold the initial model, and eps."""
    heads = ("scheme", "saving down after the initial model", "by the paper's count", "eps, median",
             "eps, largest")  # fmt: skip
    lines = [
        [facts.label, text.times(facts.later[0]), _two(facts.later[1]), *map(_short, facts.eps)]
        for facts in map(row, groups)
    ]
    return _table(heads, lines)


def _measured(groups: Sequence[Group]) -> str:
    """What quantizing did, medians over rounds."""
    heads = ("scheme", "error down", "error up", "peak of the model", "of the broadcast", "of replies",
             "norm of the broadcast", "distance of the estimate", "left over, of a reply")  # fmt: skip
    lines = [
        [
            facts.label,
            *map(_three, (facts.error.down, facts.error.up)),
            *map(_one, facts.peaks),
            *map(_three, (facts.norm, facts.distance, facts.memory)),
        ]
        for facts in map(row, groups)
    ]
    return _table(heads, lines)


def _carried(groups: Sequence[Group]) -> str:
    """What carried the frames, bytes per round to and from all devices."""
    heads = ("scheme", *(f"{name} {way}" for way in ("down", "up") for name in HEADS))
    lines = [
        [group.label, *(cell for side in sides for cell in side.cells)]
        for group in groups
        if (sides := carried(group)) is not None
    ]
    return _table(heads, lines)


def _per_device(groups: Sequence[Group]) -> str:
    """What each device was handed and what it sent."""
    lines = [[group.label, *found] for group in groups if (found := cells(group)) is not None]
    return f"{_table(('bytes per device', *DEVICE_HEADS), lines)}\n{ABOUT}\n"


def _times(groups: Sequence[Group], link: LinkSpeeds) -> str:
    """How long all rounds take over a link."""
    about = f"{text.rate(link.downlink)} down, {text.rate(link.uplink)} up"
    heads = ("scheme", f"{about}: broadcast", "unicast")
    lines: list[list[str]] = []
    for group in groups:
        loads = load(group)
        ends = [elapsed(loads, link, view)[-1:] for view in ("broadcast", "unicast")]
        shown = [text.duration(float(end[0])) if len(end) else text.MISSING for end in ends]
        lines.append([group.label, *shown])
    return _table(heads, lines)


def _break_even(groups: Sequence[Group]) -> str:
    """The link rates below which compression saves time."""
    heads = ("scheme", "break-even rate down", "break-even rate up")
    lines = [[g.label, text.limit(downlink(g).rate), text.limit(uplink(g).rate)] for g in groups]
    return _table(heads, lines)


def _commands(groups: Sequence[Group]) -> str:
    """Every run: its settings and the command that made it."""
    lines = ["Settings and commands:", ""]
    for group in groups:
        for run in group.runs:
            settings = ", ".join(run.settings.toml().split("\n")[:-1])
            lines.append(f"- {_code(run.name)}: {_escaped(settings)}")
            if run.about.command:
                lines.append(f"  {_code(run.about.command)}")
    return "\n".join(lines) + "\n"


def _table(heads: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    rows = [_line(heads), _line(["---", *["---:"] * (len(heads) - 1)])]
    rows += [_line([_escaped(cells[0]), *cells[1:]]) for cells in lines]
    return "\n".join(rows) + "\n"


def _both(pair: Both, unit: str, digits: int) -> str:
    sides = (pair.down, pair.up)
    return " / ".join(text.MISSING if v is None else f"{v:.{digits}f}{unit}" for v in sides)


def _two(value: float | None) -> str:
    return text.MISSING if value is None else f"{value:.2f}x"


def _one(value: float | None) -> str:
    return text.MISSING if value is None else f"{value:.1f}"


def _short(value: float | None) -> str:
    return text.MISSING if value is None else f"{value:.1e}"


def _three(value: float | None) -> str:
    """A number with three digits; a dash for None."""
    return text.MISSING if value is None else f"{value:.3g}"


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(word: str) -> str:
    """Text that is only text in Markdown."""
    line = printable(" ".join(word.split()))
    kept = "".join(f"\\{c}" if c in "\\`*_[]|#" else c for c in line)
    return kept.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _code(words: str) -> str:
    """Text that is only text in a span of code: more backticks around it than are in it, and one line.

    >>> _code("a `b`")
    '`` a `b` ``'
    """
    shown = printable(words).replace("\n", "\\n")
    longest = max(map(len, re.findall("`+", shown)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest or not shown.strip() else ""
    return f"{fence}{space}{shown}{space}{fence}"
