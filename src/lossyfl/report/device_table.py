"""Bytes per device as a table: the fewest, the median and the most, each way, over all runs of a group."""

from collections.abc import Sequence

from lossyfl.report import text
from lossyfl.report.groups import Group
from lossyfl.report.markup import Markup, join, tag
from lossyfl.report.per_device import Spread, Stretch, spread

OF = ("least", "median", "largest")
HEADS = ("devices", *(f"{of} down" for of in OF), "of which catch-up", *(f"{of} up" for of in OF))
ABOUT = (
    "What each device was handed and what it sent, in frames, over a whole run; a broadcast counts for every "
    "device that hears it. Devices of all seeds are counted together; those that were never asked have none."
)


def stretches(group: Group) -> list[Stretch]:
    """Those of all runs of a group that have a ledger."""
    return [stretch for run in group.runs for stretch in run.devices]


def cells(group: Group) -> tuple[str, ...] | None:
    """As text, in the order of HEADS; None where no run has a ledger."""
    found = stretches(group)
    if not found:
        return None
    down = sum(each.count * each.down for each in found)
    late = sum(each.count * each.catch_up for each in found)
    return (
        f"{sum(each.count for each in found):,}",
        *_sizes(spread(found, lambda each: each.down)),
        f"{100 * late / down:.1f} %" if down else text.MISSING,
        *_sizes(spread(found, lambda each: each.up)),
    )


def device_table(groups: Sequence[Group]) -> Markup:
    """A table for the page; nothing if no run has a ledger."""
    lines = [(number, group, cells(group)) for number, group in enumerate(groups)]
    body = [
        tag(
            "tr",
            tag("th", group.label, scope="row"),
            *(tag("td", cell) for cell in found),
            data_group=str(number),
        )
        for number, group, found in lines
        if found is not None
    ]
    if not body:
        return join([])
    head = tag("tr", *(tag("th", name, scope="col") for name in ("scheme", *HEADS)))
    table = tag("table", tag("thead", head), tag("tbody", *body), id="per-device")
    scroll = tag("div", table, class_="scroll", tabindex="0", role="region", aria_label="Devices")
    return join(
        [tag("h3", "Bytes per device", class_="head"), scroll, tag("p", ABOUT, class_="note")]
    )


def _sizes(found: Spread) -> tuple[str, str, str]:
    return text.size(found.least), text.size(found.median), text.size(found.most)
