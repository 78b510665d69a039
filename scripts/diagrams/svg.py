"""As much of SVG as the diagrams need."""

from html import escape

STYLE = """
text { font: 12px ui-monospace, Menlo, Consolas, monospace; fill: #1f2430; }
.halo { font-size: 11px; paint-order: stroke; stroke: #fff; stroke-width: 3px; }
.head { font-weight: bold; }
.grid { stroke: #e4e7ef; }
.life { stroke: #b9c0d0; stroke-dasharray: 2 3; }
.call { stroke: #3949ab; stroke-width: 1.4; marker-end: url(#tip); }
.own { fill: #d5d9e4; }
.on { fill: #3949ab; }
.busy { fill: #e3e7f8; stroke: #9aa5d8; }
"""
OPENING = """\
<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width} {height}"
  width="{width}" height="{height}">
<title>{title}</title>
<style>{style}</style>
<marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8"
  markerUnits="userSpaceOnUse"
  orient="auto"><path d="M0 0L8 4L0 8z" fill="#3949ab"/></marker>
<rect width="{width}" height="{height}" fill="#fff"/>"""


class Drawing:
    """Shapes on white, in the order in which they were added."""

    def __init__(self, width: int, height: int, title: str) -> None:
        opening = OPENING.format(width=width, height=height, title=escape(title), style=STYLE)
        self._parts = [opening]

    def line(self, x1: float, y1: float, x2: float, y2: float, style: str) -> None:
        """A straight line."""
        at = f'x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"'
        self._parts.append(f'<line class="{style}" {at}/>')

    def box(
        self, x: float, y: float, width: float, height: float, style: str, title: str = ""
    ) -> None:
        """A rectangle, with a title for whoever points at it."""
        at = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
        inner = f"<title>{escape(title)}</title>" if title else ""
        self._parts.append(f'<rect class="{style}" rx="2" {at}>{inner}</rect>')

    def text(
        self,
        x: float,
        y: float,
        words: str,
        *,
        style: str = "",
        anchor: str = "start",
        turned: bool = False,
    ) -> None:
        """Words that begin, end or are centred at a point; turned ones run upwards."""
        turn = f' transform="rotate(-90 {x:g} {y:g})"' if turned else ""
        at = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}"'
        self._parts.append(f'<text class="{style}" {at}{turn}>{escape(words)}</text>')

    def svg(self) -> str:
        """All of it."""
        return "\n".join([*self._parts, "</svg>", ""])
