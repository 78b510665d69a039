"""Unbiased quantizers where their error is kept, made smaller.

A link with a memory (error feedback, or a server that goes on from its own model) needs a contraction,
E||C(x) - x||^2 < ||x||^2. An unbiased quantizer of variance omega, E||Q(x) - x||^2 = omega ||x||^2, is one
only if omega < 1; Q(x) / (1 + omega) always is, with omega / (1 + omega). (Beznosikov et al., "On biased
compression for distributed learning", JMLR 2023; EF21-P, Gruntkowska et al., ICML 2023.) What 1 / (1 +
omega) is for the vector at hand is <Q(x), x> / ||Q(x)||^2, with which no draw is worse than sending
nothing.
"""

from dataclasses import dataclass, replace

import numpy as np

from lossyfl.compressors.base import AbstractWrapper, SendContext, packed
from lossyfl.types import Codebook, Quantized, Scaled, Table, UniformTable, Vector
from lossyfl.wire.values import values
from lossyfl.wire.vectors import product


@dataclass(frozen=True, slots=True, kw_only=True)
class Damped(AbstractWrapper):
    """Q(x) / (1 + omega) where Q is unbiased; what is biased stays as it is."""

    damped = True

    def make(self, x: Vector, context: SendContext) -> tuple[Quantized, bytes]:
        """Symbols as they are, values made smaller."""
        made, data = self.inner.make(x, context)
        if not all(quantizer.unbiased for quantizer in self.quantizers):
            return made, data
        smaller = replace(made, table=scaled(made.table, damping(x, made)))
        return smaller, packed(smaller, context)


def damping(x: Vector, made: Quantized) -> float:
    """The factor with which Q(x) comes nearest to x, in [0, 1]; 1 / (1 + omega) in the mean."""
    sent = values(made)
    energy = product(sent, sent)
    return min(max(product(sent, x) / energy, 0.0), 1.0) if energy else 1.0


def scaled(table: Table, factor: float) -> Table:
    """The table with all its values times a factor."""
    small = np.float32(factor)
    if isinstance(table, UniformTable):
        return replace(table, low=table.low * small, high=table.high * small)
    if isinstance(table, Codebook):
        return replace(table, values=table.values * small)
    return Scaled(scales=table.scales * small, row=table.row)
