"""Unbiased quantizers where their error is kept: made smaller, or refused.

A link with a memory (error feedback, or a server that goes on from its own model) needs a contraction,
E||C(x) - x||^2 < ||x||^2. An unbiased quantizer of variance omega, E||Q(x) - x||^2 = omega ||x||^2, is one
only if omega < 1; Q(x) / (1 + omega) always is, with omega / (1 + omega). (Beznosikov et al., "On biased
compression for distributed learning", JMLR 2023; EF21-P, Gruntkowska et al., ICML 2023.) What 1 / (1 +
omega) is for the vector at hand is <Q(x), x> / ||Q(x)||^2, with which no draw is worse than sending
nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lossyfl.compressors.policy import Message, Policy, packed
from lossyfl.errors import InputError
from lossyfl.types import Codebook, Ladder, Quantized, Quantizer, Scaled, Table, Vector
from lossyfl.wire.values import values
from lossyfl.wire.vectors import nmse, product


@dataclass(frozen=True, slots=True, kw_only=True)
class Damped:
    """Q(x) / (1 + omega) where Q is unbiased; what is biased stays as it is.

    inner: makes Q(x)
    """

    inner: Policy

    damped = True

    @property
    def quantizers(self) -> tuple[Quantizer, ...]:
        """Those of the inner policy."""
        return self.inner.quantizers

    def check(self, tensors: Sequence[int], rounds: int | None = None) -> None:
        """As the inner policy does."""
        self.inner.check(tensors, rounds)

    def make(self, x: Vector, message: Message) -> tuple[Quantized, bytes]:
        """Symbols as they are, values made smaller."""
        made, data = self.inner.make(x, message)
        if not all(quantizer.unbiased for quantizer in self.quantizers):
            return made, data
        smaller = replace(made, table=scaled(made.table, damping(x, made)))
        return smaller, packed(smaller, message)


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Q(x) as it is, refused where its variance is too large for a link with a memory."""

    inner: Policy

    damped = False

    @property
    def quantizers(self) -> tuple[Quantizer, ...]:
        """Those of the inner policy."""
        return self.inner.quantizers

    def check(self, tensors: Sequence[int], rounds: int | None = None) -> None:
        """As the inner policy does."""
        self.inner.check(tensors, rounds)

    def make(self, x: Vector, message: Message) -> tuple[Quantized, bytes]:
        """What the inner policy makes."""
        made, data = self.inner.make(x, message)
        if not any(quantizer.unbiased for quantizer in self.quantizers):
            return made, data
        omega = variance(x, made)
        if omega >= 1:
            allowed = "below that of sending nothing where it is kept, or damped (damping=true)"
            got = f"||Q(x) - x||^2 = {omega:.3g} ||x||^2 in round {message.address.round}"
            raise InputError("error", of="the quantizer", allowed=allowed, got=got)
        return made, data


def variance(x: Vector, made: Quantized) -> float:
    """||Q(x) - x||^2 / ||x||^2; 0 for a vector of zeros."""
    return nmse(x, values(made))


def damping(x: Vector, made: Quantized) -> float:
    """The factor with which Q(x) comes nearest to x, in [0, 1]; 1 / (1 + omega) in the mean."""
    sent = values(made)
    energy = product(sent, sent)
    return min(max(product(sent, x) / energy, 0.0), 1.0) if energy else 1.0


def scaled(table: Table, factor: float) -> Table:
    """The table with all its values times a factor."""
    small = np.float32(factor)
    if isinstance(table, Ladder):
        return replace(table, low=table.low * small, high=table.high * small)
    if isinstance(table, Codebook):
        return replace(table, values=table.values * small)
    return Scaled(scales=table.scales * small, row=table.row)
