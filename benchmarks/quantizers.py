"""`lossyfl bench quantizers`: how fast every quantizer makes a frame and reads it, beside `stochastic`.

The vectors are Laplacian, as updates are about, and have heavier tails (Student's t with two degrees of
freedom), as those of devices with few classes have. Quantizers whose size can be set make frames of half a
bit an entry and of two: the search for the step is part of the time.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from benchmarks.output import publish
from benchmarks.timing import ratio, side_by_side
from lossyfl.compressors import Compressor, Schedule, SendContext
from lossyfl.compressors.budgeted import budgeted
from lossyfl.quantizers import adjustable_names, quantizer
from lossyfl.report.text_table import TextTable
from lossyfl.streams import stream
from lossyfl.types import Vector
from lossyfl.wire.codec import decode
from lossyfl.wire.header import FrameMeta

PEER = "stochastic:levels=2"
FIXED = (PEER, "dyadic", "sign", "natural", "qsgd:levels=256", "eden:bits=1", "eden:bits=2")
RATES = ("0.5bit", "2bit")
ENTRIES = (10**4, 10**5, 10**6, 10**7)
REPEATS = {10**4: 101, 10**5: 41, 10**6: 15, 10**7: 5}
GOAL = 0.25
"""Of the peer's speed; `eden` misses it, because it pays for its transform."""


VECTORS: dict[str, Callable[[np.random.Generator, int], NDArray[np.float64]]] = {
    "laplace": lambda rng, entries: rng.laplace(size=entries),
    "heavy": lambda rng, entries: rng.standard_t(2, size=entries),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Frames of one quantizer: bits per entry, and speed as a multiple of the peer's."""

    vector: str
    entries: int
    quantizer: str
    bits: float
    encode: float
    decode: float


def run(json_file: Path | None, *, quick: bool, console: Console, progress: Console) -> None:
    """Measure, print the table, and write everything to the file."""
    results: list[Speed] = []
    for entries in ENTRIES[:1] if quick else ENTRIES:
        for vector in VECTORS:
            progress.print(f"{entries:,} entries, {vector}")
            results += measure(vector, entries)
    publish({"results": results}, [_sheet(results)], json_file=json_file, console=console)
    slow = [
        f"{each.quantizer} ({each.vector}, {each.entries:,})"
        for each in results
        if each.encode < GOAL
    ]
    console.print(f"encode below {GOAL} of {PEER}: {', '.join(slow) or 'none'}")


def measure(vector: str, entries: int) -> list[Speed]:
    """Every quantizer on one vector, taking turns."""
    x = VECTORS[vector](np.random.default_rng(0), entries).astype(np.float32)
    compressors = _compressors()
    frames = {name: _frame(compressor, x) for name, compressor in compressors.items()}
    repeats = REPEATS.get(entries, 5)
    encodes = side_by_side(
        {name: _encoding(each, x) for name, each in compressors.items()}, repeats
    )
    decodes = side_by_side({name: _decoding(each, x) for name, each in frames.items()}, repeats)
    return [
        Speed(
            vector=vector,
            entries=entries,
            quantizer=name,
            bits=8 * len(frame) / entries,
            encode=ratio(encodes, PEER, name),
            decode=ratio(decodes, PEER, name),
        )
        for name, frame in frames.items()
    ]


def _compressors() -> dict[str, Compressor]:
    fixed: dict[str, Compressor] = {name: Schedule.constant(quantizer(name)) for name in FIXED}
    return fixed | {
        f"{name} {rate}": budgeted(rate, quantizer(name))
        for name in adjustable_names()
        for rate in RATES
    }


def _frame(compressor: Compressor, x: Vector) -> bytes:
    return compressor.make(x, SendContext(meta=FrameMeta(), rng=stream(0)))[1]


def _encoding(compressor: Compressor, x: Vector) -> Callable[[], object]:
    return lambda: _frame(compressor, x)


def _decoding(frame: bytes, x: Vector) -> Callable[[], object]:
    return lambda: decode(frame, max_entries=len(x))


def _sheet(results: list[Speed]) -> TextTable:
    rows = [
        (
            each.vector,
            f"{each.entries:,}",
            each.quantizer,
            f"{each.bits:.2f}",
            f"{each.encode:.2f}",
            f"{each.decode:.2f}",
        )
        for each in results
    ]
    names = ("vector", "entries", "quantizer", "bits per entry", "encode", "decode")
    return TextTable(title=f"Speed as a multiple of {PEER}, one thread", columns=names, rows=rows)
