"""Cells of magnitudes: zero below the first edge, then a value for every cell.

Edges lie on edges of bins (`lossyfl.quantizers.magnitudes`), so that size and error of any cells are known
from the bins alone, and the best can be chosen among many without looking at the vector again. A cell
stands for the mean of what fell into it. With a scale per tensor or block, each of them is divided by its own
root mean square first.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.cells import cost_of_cells, even_edges, search_steps
from lossyfl.kernels.checks import fits
from lossyfl.quantizers.magnitudes import BINS, EDGES, Floats, Magnitudes
from lossyfl.quantizers.targets import Target, check_reached
from lossyfl.types import Counts, Symbols, Vector, symbol_type

Edges = NDArray[np.int64]

HALVINGS = 24
FINEST = 256
"""Steps in the median of the magnitudes above 0, at the most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CellStatistics:
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
    def of(cls, known: Magnitudes, spent: int) -> "CellStatistics":
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
        found, known = np.empty(2), self.known
        fits(cost_of_cells(known.first, self.ahead, self.sums, known.energy, edges, found))
        bits, error = found.tolist()
        return bits + self.spent, error

    def best_steps(self, zones: Floats, by_size: bool, limit: float, room: Edges) -> Floats:
        """The best step for every zone, its bits and its error, a row each: `search_steps`."""
        known, found = self.known, np.empty((3, len(zones)))
        finest = float(EDGES[self.median]) / FINEST
        peak = float(EDGES[min(known.stop, len(EDGES) - 1)])
        own = known.first, self.ahead, self.sums, known.energy
        fits(search_steps(*own, finest, peak, zones, by_size, limit, HALVINGS, room, found))
        return found

    def even(self, zone: float, step: float, room: Edges) -> Edges:
        """The cells of a zone and a step."""
        known = self.known
        return room[: even_edges(zone * step, step, known.first, known.stop, room)].copy()

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
        places = np.minimum(np.maximum(self.edges - self.known.first, 0), len(per_bin))
        return ahead[np.append(places[1:], len(per_bin))] - ahead[places]

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
