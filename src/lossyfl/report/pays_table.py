"""Whether compression pays, as a table in the page."""

from collections.abc import Sequence

from lossyfl.report import text
from lossyfl.report.groups import Group
from lossyfl.report.markup import Markup, tag
from lossyfl.report.pays import Pays, downlink, uplink
from lossyfl.report.results_table import named

HEADS = ("saved a round", "coding", "pays below", "saved a reply", "coding", "pays below")


def pays_table(groups: Sequence[Group]) -> Markup:
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
    table = tag("table", tag("thead", above, head), tag("tbody", *body), id="pays")
    return tag("div", table, class_="scroll", tabindex="0", role="region", aria_label="Does it pay")


def _direction(pays: Pays) -> tuple[Markup, Markup, Markup]:
    below = pays.below
    saved = text.size(pays.saved) if below is not None else "nothing"
    return (
        tag("td", saved),
        tag("td", text.duration(pays.seconds)),
        tag("td", text.MISSING if below is None else tag("b", text.limit(below))),
    )
