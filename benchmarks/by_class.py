"""Frames with shapes beside frames without: what coding by row and column gains, and what it takes.

A matrix whose rows and columns are busy or idle and whose rows lean to a sign, as gradients are, and one
whose entries are all alike, where nothing is to be gained and only the search is paid for.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from benchmarks.timing import ratio, side_by_side
from lossyfl.quantizers import quantizer
from lossyfl.report.text_table import TextTable
from lossyfl.streams import stream
from lossyfl.types import Shape, Vector
from lossyfl.wire.codec import decode, quantize
from lossyfl.wire.frame import pack
from lossyfl.wire.header import FrameMeta

QUANTIZERS = ("stochastic:levels=2", "deadzone:target=0.3bit", "deadzone:target=1bit")
WIDTHS = {300: 101, 1000: 31}
"""Rows and columns of the matrix, and how often each job is done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ByClass:
    """One matrix: bytes with and without its shape, and speed with it as a multiple of that without."""

    entries: int
    matrix: str
    quantizer: str
    plain: int
    shaped: int
    encode: float
    decode: float


def measure_all(*, quick: bool) -> Iterator[ByClass]:
    """All matrices and quantizers."""
    for width, repeats in list(WIDTHS.items())[: 1 if quick else None]:
        for name, x in matrices(width).items():
            for spec in QUANTIZERS:
                yield measure(name, x, width, spec, repeats)


def matrices(width: int) -> dict[str, Vector]:
    """A busy and an even one, as vectors; one entry is zero, so that it has no sign."""
    rng = np.random.default_rng(0)
    entries = rng.laplace(size=(width, width))
    spread = np.exp(rng.normal(size=(width, 1)) + 0.5 * rng.normal(size=(1, width)))
    busy = spread * (entries + 0.5 * rng.normal(size=(width, 1)))
    busy[0, 0] = entries[0, 0] = 0
    return {name: x.astype(np.float32).ravel() for name, x in (("busy", busy), ("even", entries))}


def measure(name: str, x: Vector, width: int, spec: str, repeats: int) -> ByClass:
    """Both frames of one matrix, side by side."""
    chosen = quantizer(spec)

    def coded(shapes: Sequence[Shape] | None) -> bytes:
        """The same symbols in any case, not those that `deadzone` chooses by shapes."""
        made = quantize(x, chosen, rng=stream(0))
        return pack(replace(made, tensors=shapes), FrameMeta())

    shape = ((width, width),)
    plain, shaped = coded(None), coded(shape)
    assert np.array_equal(decode(plain), decode(shaped))
    times = side_by_side(
        {
            "plain": lambda: coded(None),
            "shaped": lambda: coded(shape),
            "decode_plain": lambda: decode(plain),
            "decode_shaped": lambda: decode(shaped),
        },
        repeats,
    )
    return ByClass(
        entries=len(x),
        matrix=name,
        quantizer=spec,
        plain=len(plain),
        shaped=len(shaped),
        encode=ratio(times, "plain", "shaped"),
        decode=ratio(times, "decode_plain", "decode_shaped"),
    )


def table(results: list[ByClass]) -> TextTable:
    """Bytes and speeds with shapes and without."""
    rows = [
        (
            f"{each.entries:,}",
            each.matrix,
            each.quantizer,
            f"{each.plain:,}",
            f"{each.shaped:,}",
            f"{100 * (1 - each.shaped / each.plain):.1f}",
            f"{each.encode:.2f} / {each.decode:.2f}",
        )
        for each in results
    ]
    return TextTable(
        title="Frames with shapes beside frames without: bytes, and speed with as a multiple of that without",
        columns=("d", "rows", "quantizer", "without", "with", "fewer %", "encode / decode"),
        rows=rows,
    )
