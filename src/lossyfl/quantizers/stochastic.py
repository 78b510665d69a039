"""The paper's stochastic uniform quantizer Q(x, q), with the magnitude range as its scale.

Amiri, Gündüz, Kulkarni, Poor, "Federated Learning With Quantized Global Model Updates", 2020,
Appendix A. With x_min and x_max the smallest and largest magnitude of the block that holds x_i,

    Q(x_i, q) = sign(x_i) (x_min + (x_max - x_min) phi((|x_i| - x_min) / (x_max - x_min), q))

where phi rounds its argument y in [0, 1] to l/q or (l+1)/q at random, so that its mean is y.
Lemma 1:  E[Q(x)] = x  and  E||Q(x)||^2 <= ||x||^2 + eps d ||x||^2 / (4 q^2).

Settled where the paper is silent: |x_i| = x_max goes to level q with certainty; x_max = x_min is
exact, without randomness; the sign of level 0 is sent only where x_min > 0 makes it matter.

How a level is drawn, in float32 and the same to the bit in the kernel and in the reference:

    y     = (|x_i| s - x_min s) * (q / (x_max s - x_min s))     s a power of two near 1 / x_max
    level = floor(y) + [u < frac(y)]                            u the stream's upper 24 bits / 2^24
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lossyfl.errors import InputError
from lossyfl.kernels.checks import fits
from lossyfl.kernels.native import reference as specification
from lossyfl.kernels.stochastic import NOT_FINITE, draw_levels, quantize_levels, tallies
from lossyfl.quantizers import register
from lossyfl.streams import Stream
from lossyfl.types import (
    Bounds,
    Quantized,
    Scale,
    UniformTable,
    Vector,
    check_scale,
    paper_bits,
    symbol_type,
)
from lossyfl.wire.vectors import check_finite


@register("stochastic")
@dataclass(frozen=True, slots=True, kw_only=True)
class Stochastic:
    """Q(x, q) with `levels` = q and one magnitude range per model, per tensor or per block.

    >>> from lossyfl import decode, encode, stream
    >>> x = np.float32([0.0, -1.0, 2.0])
    >>> decode(encode(x, Stochastic(levels=2), rng=stream(0)))
    array([ 0., -1.,  2.], dtype=float32)
    """

    levels: int = 2
    scale: Scale = "model"

    unbiased = True

    def __post_init__(self) -> None:
        check_levels(self.levels, of="Stochastic")
        check_scale(self.scale, of="Stochastic")

    @property
    def errors_grow(self) -> bool:
        """With one level: an entry near 0 may be rounded to the largest, so that its error is as large."""
        return self.levels == 1

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        """The symbols of `x`: one pass for the ranges, one for the symbols and their counts."""
        low = np.empty(len(bounds) - 1, dtype=np.uint32)
        high = np.empty_like(low)
        symbols = np.empty(len(x), dtype=symbol_type(2 * self.levels + 2))
        counts, lanes = tallies(2 * self.levels + 2, threads)
        made = quantize_levels(
            x, bounds, self.levels, rng.a, rng.b, threads, low, high, symbols, counts, lanes
        )
        if made == NOT_FINITE:
            check_finite(x)
        table = UniformTable(
            low=low.view(np.float32), high=high.view(np.float32), alphabet=fits(made)
        )
        return Quantized(symbols=symbols, bounds=bounds, table=table, counts=counts[:made])

    def error_bound(self, entries: int) -> float:
        """D / (4 q^2): Lemma 1 with the largest eps there is, 1."""
        return entries / (4 * self.levels**2)

    def nominal_bits(self, entries: int, blocks: int) -> float:
        """R_Q = 64 + d (1 + log2(q + 1)), the paper's count, with 64 bits for every block."""
        return paper_bits(entries, blocks, self.levels)


def check_levels(levels: object, *, of: str) -> None:
    """Raise unless it is a number of levels."""
    if not isinstance(levels, int) or isinstance(levels, bool) or not 1 <= levels <= 32_767:
        raise InputError("levels", of=of, allowed="an int in [1, 32767]", got=levels)


def rounded_at_random(
    x: Vector,
    bounds: Bounds,
    low: Vector,
    high: Vector,
    levels: int,
    rng: Stream,
    threads: int,
) -> Quantized:
    """Magnitudes as one of their neighbours on an even grid from `low` to `high`, with the right mean."""
    twin = int(low.any())
    alphabet = 2 * levels + 1 + twin
    symbols = np.empty(len(x), dtype=symbol_type(alphabet))
    counts, lanes = tallies(alphabet, threads)
    ranges = low.view(np.uint32), high.view(np.uint32)
    drawn = levels, twin, rng.a, rng.b, threads
    fits(draw_levels(x, bounds, *ranges, *drawn, symbols, counts, lanes))
    table = UniformTable(low=low, high=high, alphabet=alphabet)
    return Quantized(symbols=symbols, bounds=bounds, table=table, counts=counts[:alphabet])


def reference(x: Vector, bounds: Bounds, levels: int, *, rng: Stream) -> Quantized:
    """Q(x, q) in plain NumPy, block by block: the specification of `Stochastic.quantize`."""
    magnitude = np.abs(x)
    blocks = [slice(start, stop) for start, stop in pairwise(bounds.tolist())]
    low = np.array([magnitude[block].min() for block in blocks])
    high = np.array([magnitude[block].max() for block in blocks])
    alphabet = 2 * levels + (2 if low.any() else 1)
    symbols = np.empty(len(x), dtype=symbol_type(alphabet))
    ranges, counts = (low.view(np.uint32), high.view(np.uint32)), np.empty(alphabet, dtype=np.int64)
    rest = levels, 1 - alphabet % 2, rng.a, rng.b, 1, symbols, counts, np.empty(0, dtype=np.uint32)
    specification(draw_levels)(x, bounds, *ranges, *rest)
    return Quantized(
        symbols=symbols,
        bounds=bounds,
        table=UniformTable(low=low, high=high, alphabet=alphabet),
        counts=counts,
    )
