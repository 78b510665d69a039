"""What quantizing does to a vector: how uneven the vector was, and how much of it was lost.

The paper's reason for sending updates is that they are quantized with less error than models, which it puts
down to their smaller peak-to-average ratio. Both are measured in every round.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lossyfl.types import Vector
from lossyfl.wire.vectors import product


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One vector that was quantized, or the mean of several.

    norm:  of the vector
    peak:  its largest magnitude over the root of its mean square; 0 for a vector of zeros
    error: the norm of what quantizing lost, over the norm
    """

    norm: float
    peak: float
    error: float


def measure(given: Vector, lost: Vector | None = None) -> Measured:
    """What was given to a quantizer, and what it lost of it.

    >>> measure(np.float32([3, 0, 0, -4]), np.float32([0, 0, 0, 1]))
    Measured(norm=5.0, peak=1.6, error=0.2)
    """
    norm = math.sqrt(product(given, given))
    if not norm:
        return Measured(norm=0.0, peak=0.0, error=0.0)
    peak = max(abs(float(given.max())), abs(float(given.min()))) * math.sqrt(len(given)) / norm
    error = 0.0 if lost is None else math.sqrt(product(lost, lost)) / norm
    return Measured(norm=norm, peak=peak, error=error)


def mean(measured: Sequence[Measured]) -> Measured | None:
    """The means: of norms and errors as energies, so that large vectors count as much as they are heard.

    >>> mean([Measured(norm=3.0, peak=2.0, error=1.0), Measured(norm=4.0, peak=4.0, error=0.0)])
    Measured(norm=3.5355339059327378, peak=3.0, error=0.6)
    """
    if not measured:
        return None
    norms = np.array([each.norm for each in measured])
    errors = np.array([each.error for each in measured])
    energy = float(norms @ norms)
    return Measured(
        norm=math.sqrt(energy / len(norms)),
        peak=float(np.mean([each.peak for each in measured])),
        error=math.sqrt(float(np.sum((norms * errors) ** 2)) / energy) if energy else 0.0,
    )
