"""What a sweep came to as a table: means, intervals, differences with a test, and bytes.

Every point is compared with its baseline, or with the best of all points where there is none. The best was
chosen by what was measured, so that its differences hold at once with those of all pairs of points:
k (k - 1) / 2 comparisons instead of k - 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from lossyfl.experiments.outcome import RunOutcome
from lossyfl.experiments.significance import (
    Difference,
    Interval,
    Moderation,
    check_confidence,
    interval,
    moderation,
    paired,
)
from lossyfl.experiments.sweep import SweepPlan, SweepPoint, SweepResult
from lossyfl.tasks.metrics import ACCURACY, Metric

if TYPE_CHECKING:
    from pathlib import Path

BASELINE, BEST, ANY = "baseline", "best", "any"
CONFIDENCE = 0.95
Outcomes = Sequence[RunOutcome | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepRow:
    """One point in numbers; None where there is nothing to say.

    values:  of the axes; empty where the baseline has none, "any" where all are the same experiment
    seeds:   whose runs came to something
    failed:  how many diverged, or are not there yet
    value:   how well they learned, the mean with its interval
    apart:   from the baseline or the best, seed by seed; None for that one itself
    verdict: that in words
    down, up: bytes of a round after the initial model: of a broadcast and of a reply
    """

    values: tuple[str, ...]
    scheme: str
    seeds: int
    failed: int
    value: Interval | None
    apart: Difference | None
    verdict: str
    down: float | None
    up: float | None
    saving_down: float | None
    saving_up: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepTable:
    """The rows of a sweep, and what was tested.

    reference:  what differences are from
    moderation: what comparisons say of each other's variance
    """

    axes: tuple[str, ...]
    rows: tuple[SweepRow, ...]
    reference: str
    confidence: float
    comparisons: int
    moderation: Moderation | None = None
    metric: Metric = ACCURACY

    @property
    def against(self) -> str:
        """What differences are from, in a word."""
        return BASELINE if BASELINE in self.reference else BEST

    @property
    def note(self) -> str:
        """What the numbers are, and what the test assumes."""
        percent = f"{100 * self.confidence:g} %"
        return (
            f"{self.metric.name} is the mean over the evaluations in the last fifth of a run, ten at "
            f"most; intervals are Student's t over seeds, {percent}. Differences are from "
            f"{self.reference}, seed by seed: the paired t-test, two-sided, {self._variances}with "
            f"Bonferroni's correction for {self.comparisons} comparison{'s' * (self.comparisons != 1)}, "
            f"so that all of them hold at once with {percent}. It assumes that the differences of "
            f"different seeds are independent and normal{self._assumed}. Seeds share one test set, "
            "whose own noise is not in these intervals. Bytes are of frames per round after the "
            "initial model; savings are of whole runs against 32-bit floats."
        )

    @property
    def _variances(self) -> str:
        if self.moderation is None:
            return ""
        d0 = self.moderation.degrees
        shown = "infinite" if math.isinf(d0) else f"{d0:.1f}"
        return f"variances moderated over all rows (Smyth, 2004; d0 = {shown}), "

    @property
    def _assumed(self) -> str:
        if self.moderation is None:
            return ""
        return ", and the variances of rows draws from one scaled inverse chi-square"


def table_of(result: SweepResult, confidence: float = CONFIDENCE) -> SweepTable:
    """The table of a sweep, complete or not: points that are the same experiment are one row."""
    check_confidence(confidence, of="a sweep")
    plan, places = result.plan, _distinct(result.plan.points)
    best = None if plan.baselines else _best(result)
    against = [_reference(result, first, best) for first, *_ in places]
    apart = [
        None if other is None else _apart(result.outcomes[first], other)
        for (first, *_), other in zip(places, against, strict=True)
    ]
    tested = [each for each in apart if each]
    pairs = len(places) * (len(places) - 1) // 2
    comparisons = max(len(tested) if plan.baselines else pairs, 1)
    common = moderation(tested)
    found = [paired(each, confidence, comparisons, common) if each else None for each in apart]
    rows = [
        _row(point, point.values, outcomes, None, BASELINE, confidence)
        for point, outcomes in zip(plan.baselines, result.baselines, strict=True)
    ]
    for (first, *rest), other, difference in zip(places, against, found, strict=True):
        values = _common([plan.points[at].values for at in (first, *rest)])
        itself = BASELINE if plan.baselines else BEST
        verdict = itself if other is None else _verdict(difference, result.metric)
        at, outcomes = plan.points[first], result.outcomes[first]
        rows.append(_row(at, values, outcomes, difference, verdict, confidence))
    return SweepTable(
        axes=tuple(axis.name for axis in result.axes),
        rows=tuple(rows),
        reference=_named(plan),
        confidence=confidence,
        comparisons=comparisons,
        moderation=common,
        metric=result.metric,
    )


def _named(plan: SweepPlan) -> str:
    """What differences are from."""
    if not plan.baselines:
        return "the point that learned best"
    return f"the {BASELINE} {plan.baselines[0].runs[0].experiment.scheme}"


def _distinct(points: Sequence[SweepPoint]) -> list[list[int]]:
    """The places of points, those that are the same experiment together."""
    found: dict[Path, list[int]] = {}
    for place, point in enumerate(points):
        found.setdefault(point.runs[0].folder, []).append(place)
    return list(found.values())


def _common(values: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """The values that all points of a row have; "any" where they differ."""
    return tuple(own[0] if len(set(own)) == 1 else ANY for own in zip(*values, strict=True))


def _reference(result: SweepResult, place: int, best: int | None) -> Outcomes | None:
    """What a point is compared with; None for what others are compared with."""
    point, plan = result.plan.points[place], result.plan
    if point.baseline is not None:
        other, outcomes = plan.baselines[point.baseline], result.baselines[point.baseline]
    elif best is not None:
        other, outcomes = plan.points[best], result.outcomes[best]
    else:
        return ()
    return None if other.runs[0].folder == point.runs[0].folder else outcomes


def _best(result: SweepResult) -> int | None:
    """The point that learned best, of those whose every run came to something."""
    sign = result.metric.sign
    means = {
        number: fmean(values)
        for number in range(len(result.outcomes))
        if (values := [v for v in result.values(number) if v is not None])
        and len(values) == len(result.outcomes[number])
    }
    return max(means, key=lambda number: sign * means[number], default=None)


def _row(
    point: SweepPoint,
    values: tuple[str, ...],
    found: Outcomes,
    apart: Difference | None,
    verdict: str,
    confidence: float,
) -> SweepRow:
    measured = [each.value for each in found if each is not None and each.value is not None]
    there = [each for each in found if each is not None]
    return SweepRow(
        values=values,
        scheme=point.runs[0].experiment.scheme,
        seeds=len(measured),
        failed=len(found) - len(measured),
        value=interval(measured, confidence) if measured else None,
        apart=apart,
        verdict=verdict,
        down=fmean(each.down for each in there) if there else None,
        up=fmean(each.up for each in there) if there else None,
        saving_down=fmean(each.saving_down for each in there) if there else None,
        saving_up=fmean(each.saving_up for each in there) if there else None,
    )


def _apart(found: Outcomes, against: Outcomes) -> list[float]:
    """The differences of the seeds that both have."""
    return [
        one.value - other.value
        for one, other in zip(found, against, strict=False)
        if one is not None and other is not None
        if one.value is not None and other.value is not None
    ]


def _verdict(apart: Difference | None, metric: Metric) -> str:
    """A difference in words."""
    if apart is None:
        return "failed"
    if apart.interval.margin is None:
        return "one seed says nothing"
    if not apart.is_told_apart:
        return "within the noise"
    return "better" if metric.sign * apart.interval.mean > 0 else "worse"
