"""The table of results in the page; a script sorts it by any column."""

from collections.abc import Sequence
from dataclasses import dataclass

from lossyfl.report import text
from lossyfl.report.groups import Group
from lossyfl.report.markdown import tail
from lossyfl.report.markup import Markup, Piece, join, tag
from lossyfl.report.rows import EVALUATIONS, GroupRow, row
from lossyfl.tasks.metrics import Metric


@dataclass(frozen=True, slots=True)
class Cell:
    """What is shown, and by which number it is sorted."""

    shown: Piece
    value: float | None


METRIC = "of the last evaluation on the test set, the mean over seeds"
HEADS = (
    (f"last {EVALUATIONS} evaluations", "mean and standard deviation, all seeds"),
    ("best", "the best evaluation of any seed"),
    ("rounds", "done so far"),
    (
        "bytes down",
        "all frames of a run; a broadcast counts once, or for every device that has its own",
    ),
    ("bytes up", "all replies of a run"),
    ("saving down", "times fewer bytes than 32-bit floats to the same devices"),
    ("saving up", "times fewer bytes than 32-bit floats"),
    ("paper down", "the saving by the paper's count, 33 bits per entry over R_Q"),
    ("paper up", "the saving by the paper's count, 33 bits per entry over R_Q"),
    ("bits down", "bits per entry in real frames, headers and all"),
    ("bits up", "bits per entry in real frames, headers and all"),
    ("time", "of a run on the machine that simulated it"),
)


def results_table(groups: Sequence[Group]) -> Markup:
    """A row for each group, with the number that the script knows it by."""
    head = [_head("scheme", "and what else tells groups apart"), _head("seeds", "how many runs")]
    more = further(groups)
    firsts = dict.fromkeys(group.metric.name for group in groups)
    head += [_head(" or ".join(firsts), METRIC)]
    head += [_head(name, why) for name, why in HEADS[:2]]
    head += [_head(each.name, METRIC) for each in more]
    head += [_head(name, why) for name, why in HEADS[2:]]
    body = [_row(number, group, more) for number, group in enumerate(groups)]
    caption = tag("caption", "Results: a click on a heading sorts", class_="hidden")
    table = tag("table", caption, tag("thead", tag("tr", *head)), tag("tbody", *body), id="results")
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label="Results")


def further(groups: Sequence[Group]) -> list[Metric]:
    """Metrics that are not the first one of a task, of all tasks."""
    found = {each.name: each for group in groups for each in group.metrics[1:]}
    return list(found.values())


def named(number: int, group: Group) -> Markup:
    """The name of a group behind its colour."""
    swatch = tag("i", class_="swatch", style=f"--c:var(--g{number})")
    live = [tag("span", "running", class_="live")] if group.running else []
    return join([swatch, group.label, *live])


def _head(name: str, why: str) -> Markup:
    return tag("th", tag("button", name, type="button", title=why), scope="col")


def _row(number: int, group: Group, more: Sequence[Metric]) -> Markup:
    facts = row(group)
    first = tag("th", named(number, group), scope="row", data_value=facts.label)
    seeds = Cell(_seeds(facts), len(facts.seeds))
    cells = [_cell(cell) for cell in (seeds, *_cells(facts, more))]
    return tag("tr", first, *cells, data_group=str(number))


def _cell(cell: Cell) -> Markup:
    value = None if cell.value is None else repr(float(cell.value))
    return tag("td", cell.shown, data_value=value)


def _seeds(facts: GroupRow) -> Markup:
    count = len(facts.seeds)
    shown = f"{count} of {count + facts.others}" if facts.others else str(count)
    return tag("span", shown, title=f"seeds {text.numbers(facts.seeds)}")


def _cells(facts: GroupRow, more: Sequence[Metric]) -> list[Cell]:
    shown, others = facts.metric.text, {each.name: value for each, value in facts.more}
    pairs = (
        (facts.saving.down, text.times),
        (facts.saving.up, text.times),
        (facts.paper.down, text.times),
        (facts.paper.up, text.times),
        (facts.bits.down, _bits),
        (facts.bits.up, _bits),
    )
    return [
        Cell(shown(facts.last), facts.last),
        Cell(tail(facts), facts.tail),
        Cell(shown(facts.best), facts.best),
        *(Cell(each.text(others.get(each.name)), others.get(each.name)) for each in more),
        Cell(f"{facts.rounds:,}", facts.rounds),
        Cell(text.size_down(facts.nbytes.down or 0, facts.catch_up), facts.nbytes.down),
        Cell(text.size(facts.nbytes.up or 0), facts.nbytes.up),
        *(Cell(show(value), value) for value, show in pairs),
        Cell(text.duration(facts.seconds), facts.seconds),
    ]


def _bits(value: float | None) -> str:
    return text.MISSING if value is None else f"{value:.2f}"
