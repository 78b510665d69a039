"""HTML from text that nobody vouches for: everything is escaped here, and nowhere else."""

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True, slots=True)
class Markup:
    """Text that is HTML already."""

    html: str


Piece = str | Markup


def tag(name: str, *inside: Piece, **attributes: str | None) -> Markup:
    """An element; words of attributes end with _ where Python has taken them, - is written _.

    >>> tag("b", "a < b", class_="x").html
    '<b class="x">a &lt; b</b>'
    """
    pairs = ((key.rstrip("_").replace("_", "-"), v) for key, v in attributes.items())
    said = "".join(f' {key}="{escape(value)}"' for key, value in pairs if value is not None)
    return Markup(f"<{name}{said}>{join(inside).html}</{name}>")


def join(pieces: Iterable[Piece], between: str = "") -> Markup:
    """Pieces one after the other."""
    return Markup(between.join(p.html if isinstance(p, Markup) else escape(p) for p in pieces))
