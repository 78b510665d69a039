"""The results as Markdown for people and as CSV for programs."""

import csv as csv_module
import io
from collections.abc import Iterable, Sequence

from lossyfl.report import text
from lossyfl.report.groups import Group
from lossyfl.report.rows import LOOKS, Both, Row, row

HEAD = (
    "scheme", "seeds", "rounds", "accuracy", f"last {LOOKS} looks", "best", "down", "up",
    "saving down / up", "paper's count down / up", "bits an entry down / up", "time",
)  # fmt: skip

CSV_HEAD = (
    "task", "scheme", "label", "seeds", "rounds", "accuracy_last", "accuracy_tail",
    "accuracy_tail_deviation", "accuracy_best", "bytes_down", "bytes_up", "saving_down",
    "saving_up", "paper_saving_down", "paper_saving_up", "bits_per_entry_down",
    "bits_per_entry_up", "seconds",
)  # fmt: skip


def markdown(groups: Sequence[Group]) -> str:
    """A table for each task."""
    tasks = dict.fromkeys(group.settings.task for group in groups)
    return "\n".join(_task(task, groups) for task in tasks) + _NOTE


def csv(groups: Sequence[Group]) -> str:
    """A line for each group, numbers in full; empty where there is nothing to say."""
    out = io.StringIO()
    writer = csv_module.writer(out, lineterminator="\n")
    writer.writerow(CSV_HEAD)
    for group in groups:
        writer.writerow(_csv_line(group))
    return out.getvalue()


_NOTE = f"""
Accuracy is that of the last look at the test set, the mean over seeds; then the mean and standard deviation
of the last {LOOKS} looks of all seeds, and the best look. Bytes are those of frames, a broadcast counted
once; savings are against 32-bit floats, and by the paper's count of 33 bits an entry over R_Q.
"""


def _task(task: str, groups: Sequence[Group]) -> str:
    lines = [
        f"### {_escaped(task)}",
        "",
        _line(HEAD),
        _line(["---", *["---:"] * (len(HEAD) - 1)]),
    ]
    lines += [_line(_cells(row(group))) for group in groups if group.settings.task == task]
    return "\n".join(lines) + "\n"


def _cells(facts: Row) -> list[str]:
    return [
        _escaped(facts.label),
        text.numbers(facts.seeds),
        str(facts.rounds),
        text.percent(facts.last),
        tail(facts),
        text.percent(facts.best),
        text.size(facts.nbytes.down or 0),
        text.size(facts.nbytes.up or 0),
        _both(facts.saving, "x", 1),
        _both(facts.paper, "x", 1),
        _both(facts.bits, "", 2),
        text.duration(facts.seconds),
    ]


def tail(facts: Row) -> str:
    """The mean of the last looks, and their spread."""
    if facts.tail is None:
        return text.MISSING
    spread = "" if facts.spread is None else f" ± {100 * facts.spread:.2f}"
    return f"{100 * facts.tail:.2f}{spread} %"


def _both(pair: Both, unit: str, digits: int) -> str:
    sides = (pair.down, pair.up)
    return " / ".join(text.MISSING if v is None else f"{v:.{digits}f}{unit}" for v in sides)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _escaped(word: str) -> str:
    """Text that is only text in a table of Markdown."""
    kept = "".join(f"\\{c}" if c in "\\`*_[]|#" else c for c in " ".join(word.split()))
    return kept.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _csv_line(group: Group) -> list[object]:
    facts = row(group)
    pairs = (facts.nbytes, facts.saving, facts.paper, facts.bits)
    return [
        group.settings.task,
        group.settings.scheme,
        facts.label,
        " ".join(map(str, facts.seeds)),
        facts.rounds,
        facts.last,
        facts.tail,
        facts.spread,
        facts.best,
        *(side for pair in pairs for side in (pair.down, pair.up)),
        facts.seconds,
    ]
