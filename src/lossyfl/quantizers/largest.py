"""How many of the largest entries to keep. Entries of one bin, 0.8 % wide, stay together."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import InputError
from lossyfl.kernels.cells import costs_of_largest, spread_edges
from lossyfl.kernels.checks import fits
from lossyfl.quantizers import binned
from lossyfl.quantizers.cells import CellStatistics, Edges
from lossyfl.quantizers.magnitudes import EDGES
from lossyfl.quantizers.targets import Target, check_error, check_unset, target
from lossyfl.streams import Stream
from lossyfl.types import Bounds, Quantized, Scale, Vector, check_scale

KEEP = 0.01
"""The part of the entries that is kept where nothing else is said."""
TRIALS = 4096
"""Cells that are tried to find the best first bin; with one level, most often those of all bins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AbstractLargest(ABC):
    """The largest entries as one of a few magnitudes, plus or minus: `topk` and `sparse_ternary`.

    keep:   the part of the entries to keep, where there is no target
    target: what decides how many instead
    """

    keep: float = KEEP
    target: Target | str | None = None
    scale: Scale = "model"

    unbiased = False
    errors_grow = False

    def __post_init__(self) -> None:
        keep, name = self.keep, type(self).__name__
        if not isinstance(keep, int | float) or isinstance(keep, bool) or not 0 < keep <= 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            allowed = "a part of the entries in (0, 1]"
            raise InputError("keep", of=name, allowed=allowed, got=keep)
        if self.target is not None and keep != KEEP:
            allowed = "left out: a target or budget sets it"
            raise InputError("keep", of=name, allowed=allowed, got=keep)
        check_scale(self.scale, of=name)
        if self.target is not None:
            wanted = target(self.target, of=name)
            object.__setattr__(self, "target", wanted)
            check_error(wanted, self.scale, of=name)

    @property
    @abstractmethod
    def magnitudes(self) -> int:
        """How many there may be."""

    @abstractmethod
    def nominal_bits(self, entries: int, blocks: int) -> float:
        """As the paper of each counts."""

    @property
    def _wanted(self) -> Target | None:
        """The target, of which `__post_init__` has read the text."""
        assert not isinstance(self.target, str)
        return self.target

    def with_target(self, target: Target) -> Self:
        """The same for a target instead of a part."""
        check_unset(self._wanted, None, of=type(self).__name__)
        return replace(self, target=target)

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        """The symbols of `x`."""
        wanted = self._wanted
        return binned.quantize(
            x,
            bounds,
            lambda statistics: [self.cells(statistics, wanted)],
            bits=None if wanted is None else wanted.bits_for(len(x)),
            levels=self.magnitudes,
            rng=rng,
            threads=threads,
        )

    def error_bound(self, entries: int) -> float:
        """1: never worse than sending nothing. With exact values it would be 1 - k / d."""
        del entries
        return 1.0

    def cells(self, statistics: CellStatistics, wanted: Target | None) -> Edges:
        """The cells that keep the part `keep` of all entries, or as many as a target allows."""
        known = statistics.known
        zeros = 1 if known.first == 0 else 0  # bin 0 is that of zero, and never kept
        places = np.arange(known.first, known.stop + 1)[zeros:]
        kept = (known.entries - statistics.ahead.sum(axis=0))[
            zeros:
        ]  # if all bins from each on are
        if wanted is None:
            enough = np.flatnonzero(kept >= self.keep * known.entries)
            first = int(places[enough[-1] if len(enough) else 0])
        else:
            used = places[
                np.append(kept[1:] != kept[:-1], True)
            ]  # others keep what the next ones keep
            first = _best_first(statistics, used, wanted, self.magnitudes)
        edges = np.empty(self.magnitudes, dtype=np.int64)
        low, peak = _lows([first])[0], _peak(statistics)
        found = edges[: spread_edges(first, low, peak, known.stop, edges)]
        statistics.check_error(found, wanted, of=type(self).__name__)
        return found


def _best_first(statistics: CellStatistics, used: Edges, wanted: Target, levels: int) -> int:
    """The first bin to keep for a target: the best of many, then of all around it."""
    known = statistics.known
    bits = wanted.bits_for(known.entries)
    by_size = bits is not None
    limit = (wanted.nmse or 0.0) * known.energy if bits is None else bits - statistics.spent
    low, high = 0, len(used) - 1
    trials = max(TRIALS // levels, 3)
    while True:
        tried = np.unique(np.linspace(low, high, trials).astype(int))
        found = np.empty((2, len(tried)))
        starts = used[tried]
        taken = costs_of_largest(
            known.first,
            statistics.ahead,
            statistics.sums,
            known.energy,
            starts,
            _lows(starts),
            _peak(statistics),
            np.empty(levels, dtype=np.int64),
            found,
        )
        fits(taken)
        kept_to, rest = found if by_size else found[::-1]
        at = int(np.argmin(np.where(kept_to <= limit, rest, np.inf)))
        if (kept_to > limit).all():
            at = int(np.argmin(kept_to))
        if high - low < trials:
            return int(starts[at])
        low, high = int(tried[max(at - 1, 0)]), int(tried[min(at + 1, len(tried) - 1)])


def _lows(places: list[int] | Edges) -> NDArray[np.float64]:
    """The smallest magnitudes of bins; any for the one behind the last, which holds nothing."""
    return EDGES[np.minimum(places, len(EDGES) - 1)].astype(np.float64)


def _peak(statistics: CellStatistics) -> float:
    """About the largest magnitude."""
    return float(EDGES[statistics.known.stop - 1])
