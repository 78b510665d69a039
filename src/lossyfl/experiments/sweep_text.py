"""The table of a sweep as text: Markdown, HTML, CSV, and cells for a terminal."""

import csv
import io

from lossyfl.experiments.significance import Interval
from lossyfl.experiments.sweep_table import SweepRow, SweepTable
from lossyfl.report import text
from lossyfl.report.markup import Markup, tag

COLUMNS = (
    "whole_scheme", "seeds", "failed", "low", "high", "difference", "difference_low",
    "difference_high", "p", "verdict", "bytes_down", "bytes_up", "saving_down", "saving_up",
)  # fmt: skip
"""Of a CSV file, beside the axes and what is measured."""


def heads(table: SweepTable) -> list[str]:
    """The names of columns."""
    name = table.metric.name
    rest = ["bytes down", "bytes up", "saving down", "saving up"]
    return [*table.axes, "seeds", name, _difference(table), "verdict", *rest]


def cells(table: SweepTable, row: SweepRow) -> list[str]:
    """A row for people."""
    of = f"{row.seeds} of {row.seeds + row.failed}" if row.failed else str(row.seeds)
    named = _named(row)
    return [
        *named,
        of,
        _interval(table, row.value),
        _interval(table, row.apart.interval if row.apart else None, signed=True),
        row.verdict,
        *(text.MISSING if size is None else text.size(size) for size in (row.down, row.up)),
        *(text.times(saving) for saving in (row.saving_down, row.saving_up)),
    ]


def _named(row: SweepRow) -> list[str]:
    """The values of a row; a baseline has its scheme in the first place that is free."""
    named = list(row.values)
    if "" in named:
        named[named.index("")] = row.scheme
    return [value or text.MISSING for value in named]


def _interval(table: SweepTable, found: Interval | None, *, signed: bool = False) -> str:
    if found is None:
        return text.MISSING
    plus = "+" if signed and found.mean > 0 else ""
    margin = "" if found.margin is None else f" ± {table.metric.number(found.margin)}"
    unit = "" if signed else table.metric.unit
    return f"{plus}{table.metric.number(found.mean)}{margin} {unit}".strip()


def _difference(table: SweepTable) -> str:
    unit = f", {table.metric.apart}" if table.metric.apart else ""
    return f"{table.metric.name} - {table.against}{unit}"


def short_heads(table: SweepTable) -> list[str]:
    """The same for a terminal, without bytes."""
    whole, short = _difference(table), f"from {table.against}"
    return [name.replace(whole, short) for name in heads(table) if not name.startswith("bytes")]


def short_cells(table: SweepTable, row: SweepRow) -> list[str]:
    """A row for a terminal."""
    pairs = zip(heads(table), cells(table, row), strict=True)
    return [cell for name, cell in pairs if not name.startswith("bytes")]


def markdown(table: SweepTable) -> str:
    """The table as Markdown, with what was tested below."""
    lines = [heads(table), ["---"] * len(heads(table)), *(cells(table, r) for r in table.rows)]
    escaped = [[cell.replace("|", "\\|") for cell in line] for line in lines]
    return "\n".join(f"| {' | '.join(line)} |" for line in escaped) + f"\n\n{table.note}\n"


def html(table: SweepTable) -> Markup:
    """The table for a page."""
    head = tag("tr", *(tag("th", name, scope="col") for name in heads(table)))
    body = [tag("tr", *(tag("td", cell) for cell in cells(table, row))) for row in table.rows]
    whole = tag("table", tag("thead", head), tag("tbody", *body))
    shown = tag("div", whole, class_="scroll", tabindex="0", role="region", aria_label="Sweep")
    return tag("div", shown, tag("p", table.note, class_="note"))


def csv_of(table: SweepTable) -> str:
    """The table as CSV, numbers in full; empty where there is nothing to say."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*table.axes, *COLUMNS[:3], table.metric.name, *COLUMNS[3:]])
    writer.writerows(line(row) for row in table.rows)
    return out.getvalue()


def line(row: SweepRow) -> list[object]:
    """A row in full."""
    apart = row.apart
    return [
        *row.values,
        row.scheme,
        row.seeds,
        row.failed,
        *_ends(row.value),
        *_ends(apart and apart.interval),
        apart and apart.p,
        row.verdict,
        *(row.down, row.up, row.saving_down, row.saving_up),
    ]


def _ends(found: Interval | None) -> list[float | None]:
    if found is None:
        return [None, None, None]
    known = found.margin is not None
    return [found.mean, found.low if known else None, found.high if known else None]
