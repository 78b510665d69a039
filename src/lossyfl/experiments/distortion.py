"""Error against rate for vectors: every quantizer's frames, and the limits of independent entries."""
# pyright: reportUnknownMemberType=false
# Matplotlib leaves parameters of its own functions without types.

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lossyfl.experiments.vectors import CodedVector
from lossyfl.report import sheet
from lossyfl.report.styles import INK, MARKERS, OTHERS
from lossyfl.theory import limits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SPAN = (0.04, 4.0)
"""Bits per entry that are shown."""
WORST = 4.0
"""Errors above this are left out: they are of unbiased quantizers at rates far too low for them."""


def draw(measured: Mapping[str, Sequence[CodedVector]], path: Path) -> None:
    """Write a figure with axes for each vector to a PNG, SVG or PDF file."""
    columns = min(len(measured), 2)
    shape = (-(-len(measured) // columns), columns)
    kinds = sorted({row.kind for rows in measured.values() for row in rows})

    def fill(figure: "Figure") -> None:
        for place, (name, rows) in enumerate(measured.items(), start=1):
            axes = figure.add_subplot(*shape, place)
            _plot(axes, kinds, rows)
            axes.set_title(name, fontsize=10, parse_math=False)

    sheet.write(path, shape, fill)


def _plot(axes: "Axes", kinds: Sequence[str], rows: Sequence[CodedVector]) -> None:
    shown = [row for row in rows if SPAN[0] <= row.bits <= SPAN[1] and row.nmse <= WORST]
    for kind, style, marker in zip(kinds, cycle(OTHERS), cycle(MARKERS), strict=False):
        points = [row for row in shown if row.kind == kind]
        if points:
            axes.plot(
                [row.bits for row in points],
                [row.nmse for row in points],
                color=style.light,
                marker=marker,
                markersize=4,
                linewidth=1.0,
                linestyle=(0, style.dash) if style.dash else "-",
                label=f" {kind}",
            )
    rates = np.geomspace(*SPAN, 60)
    gaussian = [limits.gaussian(rate) for rate in rates]
    bits, errors = zip(*limits.laplacian()[1:], strict=True)  # rate 0 has no place on these axes
    axes.plot(rates, gaussian, color=INK[0], linewidth=0.8, label=" limit, Gaussian entries")
    axes.plot(
        bits, errors, color=INK[0], linewidth=0.8, linestyle=":", label=" limit, Laplacian entries"
    )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(*SPAN)
    least = min((row.nmse for row in shown if row.nmse > 0), default=1.0)
    axes.set_ylim(bottom=min(limits.gaussian(SPAN[1]), least / 1.5))
    axes.set_xlabel("Bits per entry, whole frames")
    axes.set_ylabel("||Q(x) - x||^2 / ||x||^2", parse_math=False)
    sheet.legend(axes)
