"""How many of the largest entries to keep. Entries of one bin, 0.8 % wide, stay together."""

from collections.abc import Callable

import numpy as np

from lossyfl.errors import InputError
from lossyfl.quantizers.cells import Edges, Survey
from lossyfl.targets import Target

LOOKS = 20


def check_keep(keep: object, *, of: str) -> None:
    """Raise unless it is a part of the entries."""
    if not isinstance(keep, int | float) or isinstance(keep, bool) or not 0 < keep <= 1:
        raise InputError("keep", of=of, allowed="a part of the entries in (0, 1]", got=keep)


def first_bin(
    survey: Survey, keep: float, wanted: Target | None, edges: Callable[[int], Edges]
) -> int:
    """The first bin to keep: for a part of all entries, or of those that are not zero; or for a target.

    edges: the cells when bins from a given one on are kept
    """
    known = survey.known
    zeros = 1 if known.first == 0 else 0  # bin 0 is that of zero, and never kept
    places = np.arange(known.first, known.stop + 1)[zeros:]
    kept = (known.entries - survey.ahead.sum(axis=0))[zeros:]  # if all bins from each on are kept
    if wanted is None:
        enough = np.flatnonzero(kept >= keep * known.entries)
        return int(places[enough[-1] if len(enough) else 0])
    bits = wanted.bits_for(known.entries)
    by_size = bits is not None
    limit = (wanted.nmse or 0.0) * known.energy if bits is None else bits
    used = places[np.append(kept[1:] != kept[:-1], True)]  # the others keep what the next ones keep
    low, high = 0, len(used) - 1
    while True:  # a look at all of the range, then a closer one around the best
        tried = np.unique(np.linspace(low, high, LOOKS).astype(int))
        found = np.array([survey.cost(edges(int(used[at]))) for at in tried])
        kept_to, rest = found.T if by_size else found.T[::-1]
        at = int(np.argmin(np.where(kept_to <= limit, rest, np.inf)))
        if (kept_to > limit).all():
            at = int(np.argmin(kept_to))
        if high - low < LOOKS:
            return int(used[tried[at]])
        low, high = int(tried[max(at - 1, 0)]), int(tried[min(at + 1, len(tried) - 1)])
