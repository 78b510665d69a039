"""How far a reply moves the arrays that travel exactly, beside what others do.

The rule of norms (`lossyfl.protocol.rules`) sees the vector only. Here the distance of an array is that of
its farthest entry from the server's, and the usual distance is the upper median over the replies of the
round, zeros too: what most leave alone, one cannot lead away. Up to `factor` times that is usual; but a
whole number may always move by `factor`, and a float by the largest one of its array: somebody has to be
the first.
"""

import statistics
from collections.abc import Mapping, Sequence

import numpy as np

from lossyfl.adapters.arrays import Array, whole_values
from lossyfl.adapters.exact import Exact
from lossyfl.adapters.logs import shown
from lossyfl.errors import Refused
from lossyfl.protocol.rules import ReplyRule


def bounds(replies: Sequence[Exact], before: Exact, rule: ReplyRule) -> dict[str, float]:
    """How far each array may move in a round of these replies."""
    return {
        name: max(
            rule.factor * statistics.median_high(distance(own[name], array) for own in replies),
            _room(array, rule),
        )
        for name, array in before.items()
        if replies
    }


def check_moves(number: int, exact: Exact, before: Exact, most: Mapping[str, float]) -> None:
    """Raise if a device's reply moves an array further than it may."""
    for name, bound in most.items():
        moved = distance(exact[name], before[name])
        if not moved <= bound:
            detail = f"it moves {shown(name)} by {moved:.3g}, and {bound:.3g} would be usual"
            raise Refused(number, "outlier", detail)


def distance(array: Array, before: Array) -> float:
    """How far the farthest entry is from where it was."""
    was, now = (whole_values(own).astype(np.float64) for own in (before, array))
    return float(np.abs(now - was).max(initial=0.0))


def _room(array: Array, rule: ReplyRule) -> float:
    """How far an array may move whatever others do."""
    values = whole_values(array)
    if values.dtype.kind in "biu":
        return rule.factor
    return float(np.abs(values.astype(np.float64)).max(initial=0.0))
