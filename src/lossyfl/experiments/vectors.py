"""What quantizers make of a saved vector: size and error, at equal bytes where they can be set."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lossyfl.codec import decode
from lossyfl.errors import InputError
from lossyfl.links import Message, Schedule, budgeted
from lossyfl.links.budget import ADJUSTABLE, SMALLEST
from lossyfl.links.policy import Policy
from lossyfl.quantizers import quantizer
from lossyfl.streams import stream
from lossyfl.targets import target
from lossyfl.types import Vector
from lossyfl.vectors import as_vector
from lossyfl.wire.header import HARD_LIMIT, Address

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
class Coded:
    """A vector as a frame: real bytes, bits an entry, and the relative error of one draw.

    kind: the quantizer without its rate or levels
    """

    quantizer: str
    kind: str
    nbytes: int
    bits: float
    nmse: float


def read(path: Path) -> Vector:
    """The vector of a .npy file."""
    try:
        return as_vector(np.load(path, allow_pickle=False))
    except (OSError, ValueError, EOFError) as error:
        allowed = "a .npy file with a vector of floats"
        raise InputError("vector", of="tune", allowed=allowed, got=f"{path}: {error}") from error


def measure(x: Vector, limit: str | None = None) -> list[Coded]:
    """Every quantizer on a vector, by size: within a budget, or at several rates.

    Those that cannot be as exact as the budget says are left out.
    """
    some = tuple(r for r in RATES if (target(r, of="tune").rate or 0) * len(x) >= 8 * SMALLEST)
    limits = some if limit is None else (limit,)
    rows: list[Coded] = []
    for name in ADJUSTABLE:
        for each in limits:
            policy = budgeted(each, quantizer(name), name="budget")
            policy.check(len(x))
            try:
                rows.append(coded(f"{name} {each}", name, policy, x))
            except InputError:
                if "nmse" not in each:  # a size can be kept to
                    raise
    for spec in FIXED:
        name = spec.partition(":")[0] + (", least error" if "least-error" in spec else "")
        rows.append(coded(spec, name, Schedule.constant(quantizer(spec)), x))
    return sorted(rows, key=lambda each: each.nbytes)


def coded(name: str, kind: str, policy: Policy, x: Vector) -> Coded:
    """One vector by one policy."""
    _, frame = policy.make(x, Message(address=Address(), rng=stream(0)))
    error = decode(frame, max_entries=HARD_LIMIT).astype(np.float64) - x
    energy = float(np.square(x, dtype=np.float64).sum())
    return Coded(
        quantizer=name,
        kind=kind,
        nbytes=len(frame),
        bits=8 * len(frame) / len(x),
        nmse=float(error @ error) / energy if energy else 0.0,
    )
