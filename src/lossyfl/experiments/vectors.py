"""What quantizers make of a saved vector: size and error, at equal bytes where they can be set."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lossyfl.compressors import Compressor, Schedule, SendContext
from lossyfl.compressors.budgeted import SMALLEST, budgeted_once
from lossyfl.errors import InputError
from lossyfl.quantizers import adjustable_names, quantizer
from lossyfl.quantizers.targets import target
from lossyfl.streams import stream
from lossyfl.types import Vector
from lossyfl.wire.codec import decode
from lossyfl.wire.header import FrameMeta
from lossyfl.wire.vectors import as_vector, check_finite, nmse

FIXED = (
    *(f"stochastic:levels={levels}" for levels in (1, 2, 5, 20, 100)),
    *(f"qsgd:levels={levels}" for levels in (16, 64, 256, 1024, 4096)),
    *(f"eden:bits={bits}" for bits in (1, 2, 3, 4)),
    *(f"eden:bits={bits},aim=least-error" for bits in (1, 2, 3, 4)),
    "natural",
    "sign",
)
RATES = ("0.05bit", "0.1bit", "0.25bit", "0.5bit", "1bit", "2bit", "3bit")


@dataclass(frozen=True, slots=True, kw_only=True)
class CodedVector:
    """A vector as a frame: real bytes, bits per entry, and the relative error of one draw.

    kind: the quantizer without its rate or levels
    """

    quantizer: str
    kind: str
    nbytes: int
    bits: float
    nmse: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorComparison:
    """What all quantizers make of a vector.

    rows:    by size
    refused: why some do not take it, by their names
    """

    rows: list[CodedVector]
    refused: dict[str, str]


def read(path: Path) -> Vector:
    """The vector of a .npy file; raises on one that no quantizer takes."""
    allowed = "a .npy file with a vector of finite floats"
    try:
        loaded = np.load(path, allow_pickle=False)
    except OSError as error:
        got = f"{path}: {error.strerror or error}"
        raise InputError("vector", of="tune", allowed=allowed, got=got) from error
    except (ValueError, EOFError) as error:  # whose words are about pickles
        raise InputError("vector", of="tune", allowed=allowed, got=str(path)) from error
    try:
        x = as_vector(loaded)
        check_finite(x)
    except InputError as error:
        raise InputError("vector", of="tune", allowed=allowed, got=f"{path}: {error}") from error
    return x


def measure(x: Vector, limit: str | None = None) -> VectorComparison:
    """Every quantizer on a vector: within a budget, or at several rates."""
    some = tuple(r for r in RATES if (target(r, of="tune").rate or 0) * len(x) >= 8 * SMALLEST)
    compressors: dict[tuple[str, str], Compressor] = {}
    for name in adjustable_names():
        for each in some if limit is None else (limit,):
            compressor = budgeted_once(each, quantizer(name), of="tune --vector")
            compressor.check([len(x)])
            compressors[name, f"{name} {each}"] = compressor
    for spec in FIXED:
        name = spec.partition(":")[0] + (", least error" if "least-error" in spec else "")
        compressors[name, spec] = Schedule.constant(quantizer(spec))
    rows: list[CodedVector] = []
    refused: dict[str, str] = {}
    for (kind, name), compressor in compressors.items():
        try:
            rows.append(coded(name, kind, compressor, x))
        except InputError as error:  # an error out of its reach, or entries too large for it
            refused[name] = str(error)
    return VectorComparison(rows=sorted(rows, key=lambda each: each.nbytes), refused=refused)


def coded(name: str, kind: str, compressor: Compressor, x: Vector) -> CodedVector:
    """One vector by one compressor."""
    _, frame = compressor.make(x, SendContext(meta=FrameMeta(), rng=stream(0)))
    return CodedVector(
        quantizer=name,
        kind=kind,
        nbytes=len(frame),
        bits=8 * len(frame) / len(x),
        nmse=nmse(x, decode(frame, max_entries=len(x))),
    )
