"""Files of figures: one style for all of them, and the same file to the byte every time."""
# pyright: reportUnknownMemberType=false
# Matplotlib leaves parameters of its own functions without types.

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lossyfl.errors import InputError
from lossyfl.extras import require
from lossyfl.files.atomic import write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOM = 16
"""Names that a legend beside axes has room for."""
SUFFIXES = (".png", ".svg", ".pdf")

STYLE = {
    "font.size": 9.0,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#e4e6ea",
    "grid.linewidth": 0.6,
    "xtick.direction": "in",
    "ytick.direction": "in",
    "xtick.top": True,
    "ytick.right": True,
    "legend.framealpha": 0.92,
    "legend.edgecolor": "#c9ccd3",
    "legend.fancybox": False,
    "svg.hashsalt": "lossyfl",  # the same names inside the file every time
    "pdf.fonttype": 42,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plot:
    """A figure of rows and columns of axes, which `fill` adds, before it is drawn.

    beside: inches for what stands beside the axes
    """

    shape: tuple[int, int]
    fill: "Callable[[Figure], None]"
    beside: float = 0.0

    def figure(self) -> "Figure":
        """Matplotlib's figure, as a notebook shows it."""
        matplotlib = require("matplotlib", extra="report")
        module = require("matplotlib.figure", extra="report")
        with matplotlib.rc_context(STYLE):
            size = (5.2 * self.shape[1] + self.beside, 3.6 * self.shape[0])
            figure: Figure = module.Figure(figsize=size, layout="constrained")
            self.fill(figure)
        return figure


def write(
    path: Path, shape: tuple[int, int], fill: "Callable[[Figure], None]", *, beside: float = 0.0
) -> None:
    """Write a figure of rows and columns of axes, which `fill` adds, to a PNG, SVG or PDF file.

    beside: inches for what stands beside the axes
    """
    check_suffix(path)
    save(path, Plot(shape=shape, fill=fill, beside=beside).figure())


def check_suffix(path: Path) -> None:
    """Raise if no figure is written to such a file."""
    if path.suffix not in SUFFIXES:
        allowed = f"one of {', '.join(SUFFIXES)}"
        raise InputError("suffix", of="a figure", allowed=allowed, got=path.name)


def save(path: Path, figure: "Figure") -> None:
    """Write a figure to a PNG, SVG or PDF file."""
    matplotlib = require("matplotlib", extra="report")
    with matplotlib.rc_context(STYLE):
        image = io.BytesIO()
        figure.savefig(image, format=path.suffix[1:], dpi=200, metadata=_metadata(path.suffix))
    write_atomically(path, [image.getvalue()])


def legend(axes: "Axes", note: str = "", *, beside: bool = False) -> None:
    """Name what is drawn, if anything is, where it hides least or beside the axes."""
    names = len(axes.get_legend_handles_labels()[1])
    if not names:
        return
    box = axes.legend(
        loc="center left" if beside else "best",
        bbox_to_anchor=(1.01, 0.5) if beside else None,
        fontsize=7.5 * min(1.0, ROOM / names) if beside else 7.5,
        handlelength=2.8,
        alignment="left",
        title=note,
        title_fontsize=7.0,
    )
    for text in box.get_texts():
        text.set_parse_math(False)  # a $ in a name is a $
    box.set_in_layout(beside)  # within the axes, however long it is, they keep their size


def png(figure: "Figure") -> bytes:
    """A figure as a notebook shows it."""
    image = io.BytesIO()
    figure.savefig(image, format="png", dpi=110)
    return image.getvalue()


def _metadata(suffix: str) -> dict[str, None]:
    """What would differ from one day or version to the next is left out."""
    names = {".png": ("Software",), ".svg": ("Date", "Creator"), ".pdf": ("CreationDate",)}
    return dict.fromkeys(names[suffix])
