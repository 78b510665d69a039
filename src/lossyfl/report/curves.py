"""A curve over rounds: the mean over seeds, and a band that says how far apart they are."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lossyfl.report.groups import Group
from lossyfl.results.records import LARGEST_NUMBER, Round

Floats = NDArray[np.float64]
FEW = 4
"""Up to so many seeds a band is their minimum and maximum; with more, a standard deviation each way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """A value for each round, NaN where there is none; without a second seed the band is the mean."""

    mean: Floats
    low: Floats
    high: Floats


def curve(group: Group, value: Callable[[Round], float | None]) -> Curve:
    """A value of each round over all seeds that came so far."""
    return over_seeds([[value(record) for record in run.rounds] for run in group.runs])


def over_seeds(values: Sequence[Sequence[float | None]]) -> Curve:
    """The curve of a list for each seed; lists may differ in length.

    >>> over_seeds([[1.0, 2.0], [3.0]]).mean.tolist()
    [2.0, 2.0]
    """
    table = np.full((len(values), max(map(len, values), default=0)), np.nan)
    for row, line in zip(table, values, strict=True):
        row[: len(line)] = [np.nan if x is None else x for x in line]
    table[~(np.abs(table) <= LARGEST_NUMBER)] = np.nan
    count = np.sum(~np.isnan(table), axis=0)
    mean = np.nansum(table, axis=0) / np.where(count, count, np.nan)
    if len(values) <= FEW:
        low, high = np.fmin.reduce(table, axis=0), np.fmax.reduce(table, axis=0)
        return Curve(mean=mean, low=low, high=high)
    squares = np.nansum((table - mean) ** 2, axis=0)
    deviation = np.sqrt(squares / np.maximum(count - 1, 1))
    return Curve(mean=mean, low=mean - deviation, high=mean + deviation)


def bands(groups: Iterable[Group]) -> str:
    """What the bands around curves are, in words; nothing if there are none."""
    counts = sorted({len(group.runs) for group in groups} - {1})
    few, many = [n for n in counts if n <= FEW], [n for n in counts if n > FEW]
    parts: list[str] = []
    if few:
        parts.append(f"minimum to maximum of {_span(few)} seeds")
    if many:
        parts.append(f"one standard deviation of {_span(many)} seeds each way")
    return f"band: {', or '.join(parts)}" if parts else ""


def _span(counts: Sequence[int]) -> str:
    """From the fewest to the most.

    >>> _span([2, 3, 4]), _span([5])
    ('2 to 4', '5')
    """
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
