"""A vector by magnitude: how many entries, and which sum, in each of 32,768 bins.

A bin is all floats that agree in their upper 16 bits but the sign: 128 bins an octave. A quantizer whose
thresholds lie on edges of bins is then a look-up of an entry's upper 16 bits, and what it would do to a
vector, its counts and its error, can be told from the bins alone, exactly, for any number of thresholds
that one likes to try.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import NotFinite
from lossyfl.kernels import parallel
from lossyfl.kernels.checks import fits
from lossyfl.kernels.magnitudes import BINS, bin_magnitudes, look_up_bins, root_mean_squares
from lossyfl.types import Bounds, Counts, Symbols, Vector

INFINITE = 0x7F80
"""The bin of infinity; those above hold NaN."""
STRIP = 1 << 19
"""Entries a thread bins at a time: always the same strips, so that sums are the same on any threads."""

EDGES: Vector = (np.arange(INFINITE, dtype=np.uint32) << np.uint32(16)).view(np.float32)
"""The smallest magnitude of every finite bin."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Magnitudes:
    """The bins of a vector that has been multiplied by a factor in every block.

    first:  the first of these bins; below and beyond them all are empty
    counts: entries of every bin; one row for those that are not negative, one for those that are
    sums:   of the magnitudes of every bin
    energy: sum of all squares
    """

    first: int
    counts: Counts
    sums: Floats
    energy: float

    @property
    def entries(self) -> int:
        """How many entries all bins hold."""
        return int(self.counts.sum())

    @property
    def stop(self) -> int:
        """The bin behind the last."""
        return self.first + len(self.sums)

    def subsampled(self, place: int, kept: int) -> "Magnitudes":
        """The same with only so many of the entries of a bin, whichever: they are nearly equal."""
        at = place - self.first
        counts, sums = self.counts.copy(), self.sums.copy()
        sums[at] *= kept / counts[:, at].sum()
        counts[:, at] = kept, 0
        return replace(self, counts=counts, sums=sums)


def measure(x: Vector, bounds: Bounds, factors: Vector | Floats, threads: int = 1) -> Magnitudes:
    """The bins of `factor * x`; raises on NaN and infinity."""
    parts, wide = strips(len(x)), factors.astype(np.float64)
    counts = np.zeros((len(parts), 2, BINS), dtype=np.int64)
    sums = np.zeros((len(parts), BINS))
    used = np.tile(np.array([BINS, 0], dtype=np.int64), (len(parts), 1))
    energy = np.zeros(len(parts))

    def bin_strip(at: int) -> None:
        rows = counts[at].reshape(-1), sums[at], used[at]
        energy[at] = fits(bin_magnitudes(x, *parts[at], bounds, wide, *rows))

    parallel.run(bin_strip, range(len(parts)), threads)
    own = slice(int(used[:, 0].min()), int(used[:, 1].max()))  # of new memory only this is touched
    if own.stop > INFINITE:
        bad = np.flatnonzero(~np.isfinite(x))
        where, got = (f"entry {bad[0]}", float(x[bad[0]])) if len(bad) else ("a block", "overflow")
        raise NotFinite(where, of="the vector", got=got)
    return Magnitudes(
        first=own.start,
        counts=np.add.reduce(counts[:, :, own], axis=0),
        sums=np.add.reduce(sums[:, own], axis=0),
        energy=float(np.add.reduce(energy)),
    )


def look_up(
    x: Vector,
    bounds: Bounds,
    factors: Vector,
    symbols_of: Symbols,
    threads: int = 1,
) -> Symbols:
    """`symbols_of[upper 16 bits of factor * x]`: negative numbers are in the upper half."""
    symbols = np.empty(len(x), dtype=symbols_of.dtype)
    wide = factors.astype(np.float64)

    def look_up_strip(strip: tuple[int, int]) -> None:
        fits(look_up_bins(x, *strip, bounds, wide, symbols_of, symbols))

    parallel.run(look_up_strip, strips(len(x)), threads)
    return symbols


def strips(entries: int) -> list[tuple[int, int]]:
    """Where the strips of so many entries begin and end, in order."""
    return [(start, min(start + STRIP, entries)) for start in range(0, entries, STRIP)]


def scales(x: Vector, bounds: Bounds, least: float = 2.0**-120) -> Vector:
    """The root of the mean square of every block, as float32; by default 1 / it never overflows."""
    found = np.empty(len(bounds) - 1)
    fits(root_mean_squares(x, bounds, found))
    return np.maximum(found, least).astype(np.float32)
