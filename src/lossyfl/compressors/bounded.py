"""Frames that decode to no more than a norm, whatever a quantizer makes of a vector.

Differential privacy adds noise for updates of a norm of at most C. Quantizing makes vectors longer, an
unbiased quantizer of variance omega by sqrt(1 + omega) in the mean, and a kept error comes on top. So the
vector, error included, is clipped to C first; if Q(x) is longer than C all the same, C / ||Q(x)|| times it is
sent. That is more than the 1 / (1 + omega) of `damped`, with a larger error: noise is added for C whatever is
sent, so what is shorter drowns in it. The error stays bounded by the clipping. What clipping takes away is
gone, as without quantizing; what quantizing leaves out is kept as ever.

The norm is that of the float32 values that a receiver decodes, added up in float64.
"""

import math
from dataclasses import replace

import numpy as np

from lossyfl.compressors.base import Compressor, SendContext, packed
from lossyfl.compressors.damped import scaled
from lossyfl.types import Quantized, Vector
from lossyfl.wire.values import values
from lossyfl.wire.vectors import product

LESS = 1 - 2.0**-20
"""What is too long by a rounding is made shorter by."""


def norm(x: Vector) -> float:
    """The length of a vector, in float64."""
    return math.sqrt(product(x, x))


def clipped(x: Vector, bound: float) -> Vector:
    """The vector, or the multiple of it that is as long as the bound."""
    length, shorter = norm(x), x
    factor = bound / length if length else 1.0
    while norm(shorter) > bound:
        shorter = x * np.float32(factor)
        factor *= LESS
    return shorter


def make_bounded(
    compressor: Compressor, x: Vector, context: SendContext
) -> tuple[Quantized, bytes]:
    """What a compressor makes of a vector, or the multiple of it that is as long as the context's bound."""
    made, data = compressor.make(x, context)
    length, shorter = norm(values(made)), made
    if length <= context.bound:
        return made, data
    factor = context.bound / length
    while norm(values(shorter)) > context.bound:
        shorter = replace(made, table=scaled(made.table, factor))
        factor *= LESS
    return shorter, packed(shorter, context)
