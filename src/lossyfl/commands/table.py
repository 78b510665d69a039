"""What runs came to, as a table for a terminal."""

from typing import TYPE_CHECKING

from lossyfl.commands.output import console

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from lossyfl.report import Group

COSTS = ("down", "up", "saves down", "up")
CATCH_UP = "catch-up"
"""What of the bytes down were sent to catch up, where there are any."""


def show(groups: "Sequence[Group]", title: str, screen: "Console | None" = None) -> None:
    """A row for every scheme; with one metric it fits 80 columns, long schemes are folded."""
    from rich.table import Table
    from rich.text import Text

    from lossyfl.errors import printable
    from lossyfl.report.rows import row
    from lossyfl.report.tables import metrics_of
    from lossyfl.report.text import size

    rows = [(group, row(group)) for group in groups]
    late = any(r.catch_up for _, r in rows)
    metrics = metrics_of(groups)
    table = Table(title=title, title_justify="left")
    table.add_column("scheme", overflow="fold")
    costs = (COSTS[0], *([CATCH_UP] if late else []), *COSTS[1:])
    for name in (*(Text(printable(each.name)) for each in metrics), *costs):
        table.add_column(name, justify="right", no_wrap=True)
    for group, r in rows:
        share = (size(r.catch_up),) if late else ()
        sizes = (size(r.nbytes.down or 0), *share, size(r.nbytes.up or 0))
        savings = (f"{r.saving.down or 1:.1f}x", f"{r.saving.up or 1:.1f}x")
        values = {each.name: value for each, value in ((r.metric, r.last), *r.more)}
        shown = (Text(printable(each.text(values.get(each.name)))) for each in metrics)
        table.add_row(Text(printable(_label(group))), *shown, *sizes, *savings)
    (screen or console()).print(table)


def _label(group: "Group") -> str:
    """The scheme, and how many seeds where there are several."""
    from lossyfl.report.rows import row

    r = row(group)
    return f"{r.label} ({len(r.seeds)} seeds)" if len(r.seeds) > 1 else r.label
