"""Break-even rates of compression, as a table in the page."""

from collections.abc import Sequence

from lossyfl.report import text
from lossyfl.report.break_even import BreakEven, downlink, uplink
from lossyfl.report.groups import Group
from lossyfl.report.markup import Markup, tag
from lossyfl.report.results_table import named

HEADS = (
    "saved per round", "coding", "break-even rate", "saved per reply", "coding", "break-even rate",
)  # fmt: skip


def break_even_table(groups: Sequence[Group]) -> Markup:
    """A row for each group: bytes saved, seconds of coding, and the rate where they are even."""
    above = tag(
        "tr",
        tag("th", "scheme", scope="col", rowspan="2"),
        tag("th", "downlink", scope="colgroup", colspan="3"),
        tag("th", "uplink", scope="colgroup", colspan="3"),
    )
    head = tag("tr", *(tag("th", name, scope="col") for name in HEADS))
    body = [
        tag(
            "tr",
            tag("th", named(number, group), scope="row"),
            *_direction(downlink(group)),
            *_direction(uplink(group)),
            data_group=str(number),
        )
        for number, group in enumerate(groups)
    ]
    table = tag("table", tag("thead", above, head), tag("tbody", *body), id="break-even")
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label="Break-even")


def _direction(found: BreakEven) -> tuple[Markup, Markup, Markup]:
    rate = found.rate
    saved = text.size(found.saved) if rate is not None else "nothing"
    return (
        tag("td", saved),
        tag("td", text.duration(found.seconds)),
        tag("td", text.MISSING if rate is None else tag("b", text.limit(rate))),
    )
