"""Cells of magnitudes: zero below the first edge, then a value for every cell.

Edges lie on edges of bins (`lossyfl.magnitudes`), so that size and error of any cells are known from the
bins alone, and the best can be chosen among many without looking at the vector again. A cell stands for the
mean of what fell into it. With a scale per tensor or block, each of them is divided by its own root mean
square first.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lossyfl.jit import kernel
from lossyfl.magnitudes import BINS, Floats, Magnitudes
from lossyfl.targets import Target, check_reached
from lossyfl.types import Counts, Symbols, Vector, symbol_type

Edges = NDArray[np.int64]

LARGEST = float(np.finfo(np.float32).max)
TABLE_BITS = 44
"""About what a symbol more costs: its value, and its count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """All that has to be known of a vector to choose cells.

    known:  its bins
    ahead:  how many entries lie in the bins before each, not negative and negative
    sums:   of the magnitudes in the bins before each
    spent:  bits that scales take
    """

    known: Magnitudes
    ahead: Counts
    sums: Floats
    spent: int

    @classmethod
    def of(cls, known: Magnitudes, spent: int) -> "Survey":
        """Of the bins of a vector."""
        ahead = np.zeros((2, len(known.sums) + 1), dtype=np.int64)
        np.cumsum(known.counts, axis=1, out=ahead[:, 1:])
        sums = np.concatenate([[0.0], np.cumsum(known.sums)])
        return cls(known=known, ahead=ahead, sums=sums, spent=spent)

    @property
    def median(self) -> int:
        """The bin that halves the entries which are not zero."""
        ahead = self.ahead.sum(axis=0)
        zeros = ahead[1] if self.known.first == 0 else 0
        half = int(np.searchsorted(ahead, float(ahead[-1] + zeros) / 2)) - 1
        return max(self.known.first + half, 1)

    def cost(self, edges: Edges) -> tuple[float, float]:
        """Bits of symbols and tables, and the sum of squared errors."""
        bits, error = cost(self.known.first, self.ahead, self.sums, self.known.energy, edges)
        return bits + self.spent, error

    def entries(self, first: int, stop: int) -> int:
        """How many there are in the bins [first, stop)."""
        low, high = self._span(first, stop)
        return int((self.ahead[:, high] - self.ahead[:, low]).sum())

    def mean(self, first: int, stop: int) -> float:
        """Of the magnitudes in the bins [first, stop); 0 where there are none."""
        low, high = self._span(first, stop)
        return float(self.sums[high] - self.sums[low]) / max(self.entries(first, stop), 1)

    def _span(self, first: int, stop: int) -> tuple[int, int]:
        low, high = (min(place, self.known.stop) - self.known.first for place in (first, stop))
        return low, high

    def check_error(self, edges: Edges, wanted: Target | None, *, of: str) -> None:
        """Raise if the error that was asked for is out of reach."""
        if wanted is not None and wanted.nmse is not None and self.known.energy > 0:
            check_reached(self.cost(edges)[1] / self.known.energy, wanted, of=of)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cells:
    """The cells of a vector: level l is the bins [edges[l - 1], edges[l]), level 0 all below the first."""

    known: Magnitudes
    edges: Edges

    @classmethod
    def of(cls, known: Magnitudes, edges: Edges) -> "Cells":
        """Cells without those that are empty, whose values need not be sent."""
        entries = cls(known=known, edges=edges).per_level(known.counts.sum(axis=0))
        kept = edges[entries > 0]
        # An alphabet needs two symbols, also where all is zero.
        return cls(known=known, edges=kept if len(kept) else np.array([known.stop]))

    def per_level(self, per_bin: Counts | Floats) -> Counts | Floats:
        """Sums over the bins of each level but 0."""
        ahead = np.concatenate([[0], np.cumsum(per_bin)])
        places = np.clip(self.edges - self.known.first, 0, len(per_bin))
        return np.diff(ahead[np.append(places, len(per_bin))])

    def counts(self) -> Counts:
        """How often each symbol occurs."""
        above, below = (self.per_level(row) for row in self.known.counts)
        zero = self.known.entries - int(above.sum()) - int(below.sum())
        return np.concatenate([below[::-1], [zero], above]).astype(np.int64)

    def row(self) -> Vector:
        """The value of each symbol."""
        entries = self.per_level(self.known.counts.sum(axis=0))
        means = self.per_level(self.known.sums) / np.maximum(entries, 1)
        narrow = means.astype(np.float32)
        return np.concatenate([-narrow[::-1], np.zeros(1, np.float32), narrow])

    def symbols_of(self) -> Symbols:
        """The symbol for every pattern of upper 16 bits."""
        levels = len(self.edges)
        level = np.arange(levels + 1)
        widths = np.diff(self.edges, prepend=0, append=BINS)
        both = np.concatenate([levels + level, levels - level]).astype(symbol_type(2 * levels + 1))
        return np.repeat(both, np.concatenate([widths, widths]))


@kernel
def cost(
    first: int, ahead: Counts, sums: Floats, energy: float, edges: Edges
) -> tuple[float, float]:
    """Bits of symbols and tables, and the sum of squared errors."""
    total = ahead[0, -1] + ahead[1, -1]
    bits = 0.0
    error = energy
    zeros = total
    used = 1
    for level in range(len(edges)):
        low = edges[level] - first
        high = edges[level + 1] - first if level + 1 < len(edges) else ahead.shape[1] - 1
        above = ahead[0, high] - ahead[0, low]
        below = ahead[1, high] - ahead[1, low]
        entries = above + below
        if entries > 0:
            value = sums[high] - sums[low]
            error -= value * value / entries
            zeros -= entries
            used += 2
            if above > 0:
                bits += above * math.log2(total / above)
            if below > 0:
                bits += below * math.log2(total / below)
    if zeros > 0:
        bits += zeros * math.log2(total / zeros)
    return bits + TABLE_BITS * used, error


@kernel
def even_edges(low: float, step: float, first: int, stop: int, edges: Edges) -> int:
    """The bins at which cells begin: at `low` and every step on, each bin once; their number.

    Bin 0 is that of zero, and never kept. Where steps are shorter than bins, steps are left out.
    """
    one = np.empty(1, dtype=np.float32)
    bits = one.view(np.uint32)
    levels = 0
    level = 0.0
    while levels < len(edges):
        edge = low + level * step
        if edge > LARGEST:
            break
        one[0] = edge
        place = max(int((bits[0] + np.uint32(0x8000)) >> np.uint32(16)), first, 1)
        if place >= stop:
            break
        edges[levels] = place
        levels += 1
        bits[0] = np.uint32(place + 1) << np.uint32(16)
        level = max(level + 1.0, np.ceil((float(one[0]) - low) / step - 0.5))  # math's is an int
    return levels


@kernel
def spread(start: int, low: float, peak: float, stop: int, edges: Edges) -> int:
    """The bins at which cells begin that part `low`, in bin `start`, to `peak` evenly; their number."""
    if start >= stop:
        return 0
    step = (peak - low) / len(edges)
    return even_edges(low, step if step > 0 else 1.0, start, stop, edges)


@kernel
def costs_of_largest(
    first: int,
    ahead: Counts,
    sums: Floats,
    energy: float,
    starts: Edges,
    lows: Floats,
    peak: float,
    edges: Edges,
    out: Floats,
) -> None:
    """Bits and squared errors when the bins from each of `starts` on are kept, in even cells."""
    stop = first + ahead.shape[1] - 1
    for i in range(len(starts)):
        cells = spread(starts[i], lows[i], peak, stop, edges)
        out[0, i], out[1, i] = cost(first, ahead, sums, energy, edges[:cells])


@kernel
def search(
    first: int,
    ahead: Counts,
    sums: Floats,
    energy: float,
    finest: float,
    peak: float,
    zones: Floats,
    by_size: bool,
    limit: float,
    halvings: int,
    edges: Edges,
    out: Floats,
) -> None:
    """The best step for every zone, its bits and its squared error.

    Best is the least error within so many bits, or the fewest bits within so much error. If no step keeps
    to the limit: the coarsest, or the finest for an error, and infinities.
    """
    stop = first + ahead.shape[1] - 1
    coarsest = 4 * peak
    for z in range(len(zones)):
        out[0, z], out[1, z], out[2, z] = coarsest if by_size else finest, np.inf, np.inf
        within, beyond = math.log(coarsest), math.log(finest)
        if not by_size:
            within, beyond = beyond, within
        for _ in range(halvings):
            step = math.exp((within + beyond) / 2)
            levels = even_edges(zones[z] * step, step, first, stop, edges)
            bits, error = cost(first, ahead, sums, energy, edges[:levels])
            if (bits if by_size else error) > limit:
                beyond = math.log(step)
                continue
            within = math.log(step)
            if (error < out[2, z]) if by_size else (bits < out[1, z]):
                out[0, z], out[1, z], out[2, z] = step, bits, error
