"""The first minute: a real model update becomes frames, and a table says what they cost."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from rich.table import Table

from lossyfl.files import safetensors
from lossyfl.quantizers.stochastic import Stochastic
from lossyfl.streams import stream
from lossyfl.types import Scale
from lossyfl.wire.codec import decode, encode, inspect

CHOICES: tuple[tuple[int, Scale], ...] = (
    (1, "model"),
    (2, "model"),
    (2, "tensor"),
    (2, 512),
    (5, "model"),
    (50, "model"),
)


LEGEND = """\
bytes    len(frame), with header, tables and checksum
bits     of these per entry; beside them the entropy of all symbols together and the paper's R_Q; symbols
         are coded by row and column, so that frames may be below it
error    ||x - x_hat||^2 / ||x||^2 of this one draw; the mean of x_hat is x
next     lossyfl codec encode model.safetensors, with a model of yours"""


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoRow:
    """One quantizer on the example; error is ||x - x_hat||^2 / ||x||^2."""

    levels: int
    scale: Scale
    nbytes: int
    bits_per_entry: float
    entropy: float
    paper: float
    ratio: float
    error: float


def measure() -> list[DemoRow]:
    """Every quantizer of the demo on the embedded update."""
    asset = files("lossyfl").joinpath("assets/digits_update.safetensors").read_bytes()
    tensors = [t for t in safetensors.parse(asset, of="the example").tensors if t.dtype == "F32"]
    parts = [np.frombuffer(tensor.data, dtype="<f4") for tensor in tensors]
    x = np.concatenate(parts).astype(np.float32)
    shapes = [tensor.shape for tensor in tensors]
    rows: list[DemoRow] = []
    for levels, scale in CHOICES:
        quantizer = Stochastic(levels=levels, scale=scale)
        frame = encode(x, quantizer, rng=stream(0), tensors=shapes)
        info = inspect(frame)
        error = float(np.sum((decode(frame) - x) ** 2) / np.sum(x**2))
        rows.append(
            DemoRow(
                levels=levels,
                scale=scale,
                nbytes=info.nbytes,
                bits_per_entry=info.bits_per_entry,
                entropy=info.entropy_bits / info.entries,
                paper=(info.paper_bits or 0) / info.entries,
                ratio=info.ratio,
                error=error,
            )
        )
    return rows


def table(rows: Sequence[DemoRow]) -> Table:
    """The table of sizes."""
    made = Table(title="A global model update of a 64-128-10 network on digits: 9,610 entries")
    for name in ("q", "scale", "bytes", "bits", "entropy", "paper", "vs 32 bits", "error"):
        made.add_column(name, justify="right")
    made.add_row("-", "-", "38,440", "32.000", "", "", "1.0x", "0")
    for row in rows:
        made.add_row(
            f"{row.levels}",
            f"{row.scale}",
            f"{row.nbytes:,}",
            f"{row.bits_per_entry:.3f}",
            f"{row.entropy:.3f}",
            f"{row.paper:.3f}",
            f"{row.ratio:.1f}x",
            f"{row.error:.3f}",
        )
    return made
