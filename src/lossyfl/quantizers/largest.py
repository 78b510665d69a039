"""How many of the largest entries to keep. Entries of one bin, 0.8 % wide, stay together."""

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import InputError
from lossyfl.kernels.cells import costs_of_largest, spread_edges
from lossyfl.kernels.checks import fits
from lossyfl.quantizers.cells import Edges, Survey
from lossyfl.quantizers.magnitudes import EDGES
from lossyfl.quantizers.targets import Target

KEEP = 0.01
"""The part of the entries that is kept where nothing else is said."""
LOOKS = 4096
"""Cells that are looked at to find the best first bin; with one level, most often those of all bins."""


def check_keep(keep: object, *, of: str) -> None:
    """Raise unless it is a part of the entries."""
    if not isinstance(keep, int | float) or isinstance(keep, bool) or not 0 < keep <= 1:
        raise InputError("keep", of=of, allowed="a part of the entries in (0, 1]", got=keep)


def check_once(keep: float, wanted: str | None, *, of: str) -> None:
    """Raise if it is said twice how many to keep."""
    if wanted is not None and keep != KEEP:
        raise InputError("keep", of=of, allowed="left out: a target or budget sets it", got=keep)


def largest(survey: Survey, keep: float, wanted: Target | None, levels: int, *, of: str) -> Edges:
    """Cells for the largest entries, `levels` at the most: for a part of all entries, or for a target."""
    known = survey.known
    zeros = 1 if known.first == 0 else 0  # bin 0 is that of zero, and never kept
    places = np.arange(known.first, known.stop + 1)[zeros:]
    kept = (known.entries - survey.ahead.sum(axis=0))[zeros:]  # if all bins from each on are kept
    if wanted is None:
        enough = np.flatnonzero(kept >= keep * known.entries)
        first = int(places[enough[-1] if len(enough) else 0])
    else:
        used = places[np.append(kept[1:] != kept[:-1], True)]  # others keep what the next ones keep
        first = _best_first(survey, used, wanted, levels)
    edges = np.empty(levels, dtype=np.int64)
    found = edges[: spread_edges(first, _lows([first])[0], _peak(survey), known.stop, edges)]
    survey.check_error(found, wanted, of=of)
    return found


def _best_first(survey: Survey, used: Edges, wanted: Target, levels: int) -> int:
    """The first bin to keep for a target: a look at many, then at all around the best."""
    known = survey.known
    bits = wanted.bits_for(known.entries)
    by_size = bits is not None
    limit = (wanted.nmse or 0.0) * known.energy if bits is None else bits - survey.spent
    low, high = 0, len(used) - 1
    looks = max(LOOKS // levels, 3)
    while True:
        tried = np.unique(np.linspace(low, high, looks).astype(int))
        found = np.empty((2, len(tried)))
        starts = used[tried]
        taken = costs_of_largest(
            known.first,
            survey.ahead,
            survey.sums,
            known.energy,
            starts,
            _lows(starts),
            _peak(survey),
            np.empty(levels, dtype=np.int64),
            found,
        )
        fits(taken)
        kept_to, rest = found if by_size else found[::-1]
        at = int(np.argmin(np.where(kept_to <= limit, rest, np.inf)))
        if (kept_to > limit).all():
            at = int(np.argmin(kept_to))
        if high - low < looks:
            return int(starts[at])
        low, high = int(tried[max(at - 1, 0)]), int(tried[min(at + 1, len(tried) - 1)])


def _lows(places: list[int] | Edges) -> NDArray[np.float64]:
    """The smallest magnitudes of bins; any for the one behind the last, which holds nothing."""
    return EDGES[np.minimum(places, len(EDGES) - 1)].astype(np.float64)


def _peak(survey: Survey) -> float:
    """About the largest magnitude."""
    return float(EDGES[survey.known.stop - 1])
