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

from lossyfl.errors import InputError, NotFinite
from lossyfl.kernels import parallel
from lossyfl.kernels.checks import fits
from lossyfl.kernels.native import reference as specification
from lossyfl.kernels.stochastic import draw_levels, magnitude_ranges
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
from lossyfl.wire import histogram

CHUNK = 1 << 12  # entries that no strip parts
STRIP = 1 << 19  # entries whose symbols stay in the second-level cache until they are counted
INFINITY_BITS = 0x7F800000


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

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        """The symbols of `x`: one pass for the ranges, one for the symbols and their counts."""
        strips = _Strips.of(bounds, threads)
        low, high = _ranges(x, bounds, strips, threads)
        return rounded_at_random(x, bounds, low, high, self.levels, rng, threads)

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
    strips = _Strips.of(bounds, threads)
    alphabet = 2 * levels + (2 if low.any() else 1)
    symbols = np.empty(len(x), dtype=symbol_type(alphabet))
    lows, highs = low, high
    if strips.bounds is not bounds:
        owner = np.searchsorted(bounds, strips.bounds[:-1], side="right") - 1
        lows, highs = low[owner], high[owner]
    twin = 1 - alphabet % 2
    tallies = [histogram.Tally(alphabet) for _ in range(min(threads, len(strips)))]

    def draw(strip: int) -> None:
        own, edges = strips.part(strip)
        drawn = lows[own], highs[own], levels, twin, rng.a, rng.b
        fits(draw_levels(x, edges, *drawn, symbols))
        tally = tallies.pop()
        tally.add(symbols[edges[0] : edges[-1]])  # while they are in the cache
        tallies.append(tally)

    parallel.run(draw, range(len(strips)), threads)
    counts = sum((tally.counts() for tally in tallies), start=np.zeros(alphabet, dtype=np.int64))
    table = UniformTable(low=low, high=high, alphabet=alphabet)
    return Quantized(symbols=symbols, bounds=bounds, table=table, counts=counts)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Strips:
    """The vector cut into strips that fit the cache and that threads share.

    bounds: the blocks, cut further where a strip ends
    edges:  strip i is the blocks [edges[i], edges[i + 1])
    """

    bounds: Bounds
    edges: Bounds

    @classmethod
    def of(cls, bounds: Bounds, threads: int) -> "_Strips":
        if threads == 1 and bounds[-1] <= STRIP:
            return cls(bounds=bounds, edges=np.array([0, len(bounds) - 1]))
        chunks = -(-int(bounds[-1]) // CHUNK)
        starts = [run.start * CHUNK for run in parallel.split(chunks, STRIP // CHUNK, threads)]
        cuts = np.array([*starts, bounds[-1]], dtype=np.int64)
        if len(bounds) == 2:  # one block: nothing to merge, which would take as long as the rest
            return cls(bounds=cuts, edges=np.arange(len(cuts)))
        fine = np.union1d(bounds, cuts)
        return cls(bounds=fine, edges=np.searchsorted(fine, cuts))

    def __len__(self) -> int:
        return len(self.edges) - 1

    def part(self, strip: int) -> tuple[slice, Bounds]:
        """Which blocks a strip has, and their bounds."""
        first, last = int(self.edges[strip]), int(self.edges[strip + 1])
        return slice(first, last), self.bounds[first : last + 1]


def _ranges(x: Vector, bounds: Bounds, strips: _Strips, threads: int) -> tuple[Vector, Vector]:
    """Smallest and largest magnitude of every block; raises on NaN and infinity."""
    bits = x.view(np.uint32)
    low = np.empty(len(strips.bounds) - 1, dtype=np.uint32)
    high = np.empty_like(low)

    def measure(strip: int) -> None:
        own, edges = strips.part(strip)
        fits(magnitude_ranges(bits, edges, low[own], high[own]))

    parallel.run(measure, range(len(strips)), threads)
    if high.max() >= INFINITY_BITS:
        bad = int(np.flatnonzero(~np.isfinite(x))[0])
        raise NotFinite(f"entry {bad}", of="the vector", got=float(x[bad]))
    if strips.bounds is not bounds:
        first = np.searchsorted(strips.bounds, bounds[:-1])
        low = np.minimum.reduceat(low, first)
        high = np.maximum.reduceat(high, first)
    return low.view(np.float32), high.view(np.float32)


def reference(x: Vector, bounds: Bounds, levels: int, *, rng: Stream) -> Quantized:
    """Q(x, q) in plain NumPy, block by block: the specification of `Stochastic.quantize`."""
    magnitude = np.abs(x)
    blocks = [slice(start, stop) for start, stop in pairwise(bounds.tolist())]
    low = np.array([magnitude[block].min() for block in blocks])
    high = np.array([magnitude[block].max() for block in blocks])
    alphabet = 2 * levels + (2 if low.any() else 1)
    symbols = np.empty(len(x), dtype=symbol_type(alphabet))
    rest = levels, 1 - alphabet % 2, rng.a, rng.b, symbols
    specification(draw_levels)(x, bounds, low, high, *rest)
    return Quantized(
        symbols=symbols,
        bounds=bounds,
        table=UniformTable(low=low, high=high, alphabet=alphabet),
        counts=histogram.count(symbols, alphabet),
    )
