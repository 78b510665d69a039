"""Even steps with subtractive dither: unbiased, and an error that knows nothing of the data.

Roberts, 1962; Zamir and Feder, "On universal quantization by randomized uniform/lattice quantizers", IEEE
Transactions on Information Theory, 1992; in federated learning, Shlezinger et al., "UVeQFed", 2020. The
error is uniform over one step for every entry, so with a step of s times the root mean square E||Q(x) -
x||^2 = s^2 / 12 ||x||^2 exactly. The receiver draws the same noise from a seed in the frame.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from lossyfl.errors import InputError
from lossyfl.kernels import parallel
from lossyfl.kernels.checks import fits
from lossyfl.kernels.dithered import COUNT_BITS, step_for_bits
from lossyfl.quantizers import magnitudes, register
from lossyfl.quantizers.magnitudes import Magnitudes
from lossyfl.quantizers.targets import Target, check_reached, check_unset, target
from lossyfl.streams import STRIP, Stream
from lossyfl.types import (
    Bounds,
    Quantized,
    Scale,
    UniformTable,
    Vector,
    check_scale,
    symbol_type,
)
from lossyfl.wire import dither
from lossyfl.wire.histogram import Tally, entropy
from lossyfl.wire.vectors import check_finite

STEP = 1.0
"""In root mean squares, where nothing else is said."""
MAX_LEVELS = 32_767
FINEST, COARSEST = 1e-3, 1e6
"""The steps that are tried, in root mean squares."""
HALVINGS = 18
MERGED = 4
"""Bins that are one for the search: 3 % wide, which is far less than a step."""
ATTEMPTS = 8
LARGEST = float(np.finfo(np.float32).max)
TINY = 2.0**-149
"""The smallest float32 above 0."""


@register("dithered")
@dataclass(frozen=True, slots=True, kw_only=True)
class Dithered:
    """Steps of `step` root mean squares of the block; or as `target` asks, if one is given."""

    step: float = STEP
    target: Target | str | None = None
    scale: Scale = "model"

    unbiased = True
    errors_grow = False

    def __post_init__(self) -> None:
        if not isinstance(self.step, int | float) or not 0 < self.step < math.inf:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError("step", of="Dithered", allowed="a number above 0", got=self.step)
        check_scale(self.scale, of="Dithered")
        if self.target is not None:
            object.__setattr__(self, "target", target(self.target, of="Dithered"))
            if self.step != STEP:
                allowed = "left out: a target or budget sets it"
                raise InputError("step", of="Dithered", allowed=allowed, got=self.step)

    @property
    def _wanted(self) -> Target | None:
        """The target, of which `__post_init__` has read the text."""
        assert not isinstance(self.target, str)
        return self.target

    def with_target(self, target: Target) -> "Dithered":
        """The same for a target instead of a step."""
        check_unset(self._wanted, None, of="Dithered")
        return replace(self, target=target)

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        """The symbols of `x`."""
        check_finite(x)
        roots = magnitudes.scales(x, bounds, least=0.0)
        wanted = self._wanted
        if wanted is None:
            return _rounded(x, bounds, roots, self.step, rng, threads)
        if wanted.nmse is not None:
            step = math.sqrt(12 * wanted.nmse)
            made = _rounded(x, bounds, roots, step, rng, threads)
            check_reached(_error(made, roots), wanted, of="Dithered")
            return made
        bits = wanted.bits_for(len(x))
        assert bits is not None
        return _within(bits, x, bounds, roots, rng, threads)

    def error_bound(self, entries: int) -> float:
        """s^2 / 12, which it is, unless a spike makes steps longer: there are 65,535 symbols."""
        return max(self.step, math.sqrt(entries) / (MAX_LEVELS - 1)) ** 2 / 12

    def nominal_bits(self, entries: int, blocks: int) -> float:
        """Zamir and Feder's: at most 0.754 bits above the Gaussian limit at the same error."""
        limit = max(0.0, 0.5 * math.log2(12 / self.step**2))
        return 32 * blocks + entries * (limit + 0.754)


def _within(
    bits: float, x: Vector, bounds: Bounds, roots: Vector, rng: Stream, threads: int
) -> Quantized:
    """The symbols with the smallest step at which they and their tables take no more bits."""
    # In double precision: a float32 has no inverse for the smallest roots.
    wide = roots.astype(np.float64)
    factors = np.divide(1, wide, out=np.zeros_like(wide), where=wide > 0)
    known = magnitudes.measure(x, bounds, factors, threads)
    spare = min(3 * math.sqrt(len(x)), bits / 100)  # a draw may take more than the average
    step = _step(known, bits - spare - 32 * len(roots))
    found = _rounded(x, bounds, roots, step, rng, threads)
    for _ in range(ATTEMPTS):
        if size(found) <= bits or step == COARSEST:
            break
        spare += 1.5 * (size(found) - bits) + 16
        step = _step(known, bits - spare - 32 * len(roots))
        found = _rounded(x, bounds, roots, step, rng, threads)
    return found


def _step(known: Magnitudes, bits: float) -> float:
    """The smallest step, in roots, whose symbols and counts take so many bits on average, or the coarsest."""
    starts = np.arange(0, len(known.sums), MERGED)
    counts = np.add.reduceat(known.counts, starts, axis=1)
    values = np.add.reduceat(known.sums, starts) / np.maximum(counts.sum(axis=0), 1)
    expected = np.empty((2, 3 + int(float(values[-1]) / FINEST)))
    return fits(step_for_bits(values, counts, bits, FINEST, COARSEST, HALVINGS, expected))


def _error(made: Quantized, roots: Vector) -> float:
    """The relative error of the block whose spike makes its steps the longest."""
    assert isinstance(made.table, UniformTable)
    wide = roots.astype(np.float64)
    steps = dither.steps_of(made.table)
    return float(np.divide(steps, wide, out=np.zeros_like(wide), where=wide > 0).max()) ** 2 / 12


def _rounded(
    x: Vector, bounds: Bounds, roots: Vector, step: float, rng: Stream, threads: int
) -> Quantized:
    """The symbols with steps of `step` roots."""
    peaks = np.maximum.reduceat(np.abs(x), bounds[:-1])
    least = np.maximum(peaks / (MAX_LEVELS - 1.0), np.where(peaks > 0, TINY, 0.0))
    steps = np.maximum(roots.astype(np.float64) * step, least)
    highest = np.divide(peaks, steps, out=np.zeros_like(steps), where=steps > 0).max()
    levels = max(1, math.ceil(float(highest) + 0.5))
    high = steps * levels
    if high.max() > LARGEST:
        allowed = "small enough for a step more to be a number"
        raise InputError("entries", of="Dithered", allowed=allowed, got=float(peaks.max()))
    table = UniformTable(
        low=np.zeros_like(roots), high=high.astype(np.float32), alphabet=2 * levels + 1
    )
    symbols = np.empty(len(x), dtype=symbol_type(table.alphabet))
    exact = dither.steps_of(table)
    tallies = [Tally(table.alphabet) for _ in range(threads)]

    def strip(start: int) -> None:
        span = range(start, min(start + STRIP, len(x)))
        dither.add(x, bounds, exact, table.levels, rng.a, span, symbols)
        tally = tallies.pop()
        tally.add(symbols[span.start : span.stop])  # while they are in the cache
        tallies.append(tally)

    parallel.run(strip, range(0, len(x), STRIP), threads)
    counts = np.sum([tally.counts() for tally in tallies], axis=0)
    return Quantized(symbols=symbols, bounds=bounds, table=table, counts=counts, dither=rng.a)


def size(made: Quantized) -> float:
    """Bits of symbols and tables."""
    counts = made.counts
    assert counts is not None
    return entropy(counts) + COUNT_BITS * int((counts > 0).sum()) + 32 * made.table.blocks
