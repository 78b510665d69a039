"""What carried the frames, where something did: its messages, and bytes on the wire."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lossyfl.report import text
from lossyfl.report.groups import Group
from lossyfl.report.markup import Markup, join, tag
from lossyfl.results.records import Traffic

HEADS = ("frames", "model as it is", "messages", "on the wire")


@dataclass(frozen=True, slots=True, kw_only=True)
class Carried:
    """One direction of a group, bytes per round, to or from all devices; None where nobody counted.

    catch_up: of frames
    """

    frames: float
    catch_up: float
    plain: float | None
    messages: float | None
    wire: float | None

    @property
    def cells(self) -> tuple[str, ...]:
        """As text, in the order of HEADS."""
        sizes = (self.plain, self.messages, self.wire)
        others = (text.MISSING if x is None else text.size(x) for x in sizes)
        return text.size_down(self.frames, self.catch_up), *others


def carried(group: Group) -> tuple[Carried, Carried] | None:
    """Down and up; None if nothing carried the frames but the simulator."""
    rounds = [record for run in group.runs for record in run.rounds]
    if not any(record.down.carrier for record in rounds):
        return None
    down, up = [record.down for record in rounds], [record.up for record in rounds]
    catch_up = sum(record.handed.catch_up for record in rounds) / len(rounds)
    return replace(_mean(down), catch_up=catch_up), _mean(up)


def carrier_table(groups: Sequence[Group]) -> Markup:
    """A table for the page; nothing if there is nothing to say."""
    lines = [(group, found) for group in groups if (found := carried(group)) is not None]
    if not lines:
        return join([])
    head = ("scheme", *(f"{name} {way}" for way in ("down", "up") for name in HEADS))
    body = [
        tag(
            "tr",
            tag("th", group.label, scope="row"),
            *(tag("td", cell) for side in sides for cell in side.cells),
        )
        for group, sides in lines
    ]
    table = tag(
        "table",
        tag("thead", tag("tr", *(tag("th", name, scope="col") for name in head))),
        tag("tbody", *body),
        id="carrier",
    )
    about = (
        "Bytes per round, to and from all nodes: frames with what travels exactly beside them, the model in "
        "its own dtypes in as many messages, messages as Flower counts them, and on the wire."
    )
    scroll = tag("div", table, class_="scroll", tabindex="0", role="region", aria_label="Carrier")
    return join(
        [tag("h3", "Carried by Flower", class_="head"), scroll, tag("p", about, class_="note")]
    )


def _mean(sides: Sequence[Traffic]) -> Carried:
    count = max(len(sides), 1)
    wire, plain = sum(side.wire for side in sides), sum(side.plain for side in sides)
    return Carried(
        frames=sum(side.unicast for side in sides) / count,
        catch_up=0.0,
        plain=plain / count if plain else None,
        messages=sum(side.carrier for side in sides) / count,
        wire=wire / count if wire else None,
    )
