"""Unbiased quantizers where their error is kept, refused where it would grow.

A link with a memory diverges where the variance omega of an unbiased quantizer, E||Q(x) - x||^2 =
omega ||x||^2, is 1 or more: the residual is then larger than the vector (see `damped`).
"""

from dataclasses import dataclass

from lossyfl.compressors.base import AbstractWrapper, SendContext
from lossyfl.errors import InputError
from lossyfl.types import Quantized, Vector
from lossyfl.wire.values import values
from lossyfl.wire.vectors import nmse


@dataclass(frozen=True, slots=True, kw_only=True)
class VarianceGuard(AbstractWrapper):
    """Q(x) as it is, refused where its variance is too large for a link with a memory."""

    damped = False

    def make(self, x: Vector, context: SendContext) -> tuple[Quantized, bytes]:
        """What the inner compressor makes."""
        made, data = self.inner.make(x, context)
        if not any(quantizer.unbiased for quantizer in self.quantizers):
            return made, data
        omega = variance(x, made)
        if omega >= 1:
            allowed = "below that of sending nothing where it is kept, or damped (damping=true)"
            got = f"||Q(x) - x||^2 = {omega:.3g} ||x||^2 in round {context.meta.round}"
            raise InputError("error", of="the quantizer", allowed=allowed, got=got)
        return made, data


def variance(x: Vector, made: Quantized) -> float:
    """||Q(x) - x||^2 / ||x||^2; 0 for a vector of zeros."""
    return nmse(x, values(made))
