"""A colour and a line style for every group: the same scheme looks the same in every report.

The colours are those of Okabe and Ito (2008), told apart with any colour vision, made a little darker on
white and lighter on black so that thin lines have contrast; line styles tell them apart once more.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

from lossyfl.report.groups import Group


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How a group is drawn: colours on white and on black, and lengths of dashes and gaps."""

    light: str
    dark: str
    dash: tuple[float, ...] = ()


INK, BLUE = ("#22262f", "#e6e8ee"), ("#0a6fb3", "#56b4f0")
VERMILION, GREEN = ("#cc5a00", "#ff8f4d"), ("#00805c", "#35c79c")
PURPLE, GOLD = ("#a8488a", "#e59bc8"), ("#a87400", "#e8b93e")
BROWN, GREY = ("#7a4a2b", "#cda27f"), ("#6b7280", "#a0a7b4")
SOLID, DASHED, DOTTED = (), (7.0, 3.0), (1.5, 2.5)
MIXED = (8.0, 3.0, 1.5, 3.0)

MARKERS = "osD^vP*Xhd"
"""Of points, one kind after the other."""

FAMILY = {
    "lossless": Style(light=INK[0], dark=INK[1]),
    "lb": Style(light=GOLD[0], dark=GOLD[1], dash=MIXED),
    "lfl": Style(light=BLUE[0], dark=BLUE[1]),
    "lgm": Style(light=GREEN[0], dark=GREEN[1], dash=DASHED),
    "ltgm": Style(light=VERMILION[0], dark=VERMILION[1], dash=DOTTED),
}
"""The paper's systems; a second group of one of them takes one of the others."""

OTHERS = tuple(
    Style(light=color[0], dark=color[1], dash=dash)
    for dash, color in product(
        (SOLID, DASHED, DOTTED, MIXED),
        (PURPLE, BROWN, GREY, VERMILION, GREEN, GOLD, BLUE, INK),
    )
)


def styles(groups: Sequence[Group]) -> list[Style]:
    """One for each group; groups of different tasks are never drawn together."""
    taken: set[tuple[str, Style]] = set()
    chosen: list[Style] = []
    for group in groups:
        task = group.task
        wanted = [FAMILY[group.family]] if group.family in FAMILY else []
        free = [style for style in (*wanted, *OTHERS) if (task, style) not in taken]
        style = free[0] if free else OTHERS[len(chosen) % len(OTHERS)]
        taken.add((task, style))
        chosen.append(style)
    return chosen
