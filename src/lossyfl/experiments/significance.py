"""Whether a difference is more than chance: Student's t over seeds, and the noise of the test set.

A mean of n values that are independent and normal has the interval, with s their standard deviation,

    mean -+ t(1 - alpha / 2, n - 1) s / sqrt(n)

Two schemes share a seed, so they share the start, the devices' data and every batch: what is tested is the
mean of their differences seed by seed (the paired t-test), whose variance is smaller where they rise and fall
together. With m comparisons alpha is divided by m (Bonferroni), so that all intervals hold at once with the
confidence that was asked for, whether comparisons depend on each other or not.

Few seeds say little of a variance, so those of several comparisons are moderated (Smyth, "Linear models and
empirical Bayes methods", 2004): each is taken as a draw from one scaled inverse chi-square, whose mean s0^2
and degrees of freedom d0 are estimated from all of them. With d = n - 1 of its own

    s~^2 = max(s^2, (d0 s0^2 + d s^2) / (d0 + d))     with min(d0 + d, all d together) degrees of freedom

Where variances are alike d0 is large, and all of them tell of each; where they are not it is small, and each
tells of itself. The maximum is ours: a variance that was measured is never taken for a smaller one, without
which false alarms are too frequent where the variances of schemes are far apart.

Seeds share one test set: another one of n samples would move two accuracies p and p' apart by up to

    z(1 - alpha / 2) sqrt((p (1 - p) + p' (1 - p')) / n)

the binomial noise of two models that err independently of each other. Models that learn the same err on the
same samples, and are less apart; so this is the most it can be.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev, variance
from typing import Any

from lossyfl.errors import InputError
from lossyfl.extras import require

LEAST, MOST = 0.5, 0.9999
FEWEST = 3
"""Comparisons that tell of each other's variance."""
LEAST_PART = 1e-5
"""Of the usual variance: one that is less is chance, or the grid of a small test set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A mean, and how far it may be off each way; None where a single value says nothing of that."""

    mean: float
    margin: float | None

    @property
    def low(self) -> float:
        """The lower end; the mean without a margin."""
        return self.mean - (self.margin or 0.0)

    @property
    def high(self) -> float:
        """The upper end; the mean without a margin."""
        return self.mean + (self.margin or 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How far one is from another, seed by seed.

    interval: of the mean difference, for all comparisons at once
    p:        of no difference, times the comparisons; None if too few seeds are common to both
    seeds:    that are common to both
    """

    interval: Interval
    p: float | None
    seeds: int

    @property
    def is_told_apart(self) -> bool:
        """Whether no difference at all lies outside of the interval."""
        margin = self.interval.margin
        return margin is not None and abs(self.interval.mean) > margin


@dataclass(frozen=True, slots=True, kw_only=True)
class Moderation:
    """What several comparisons say of the variance of each.

    degrees:  d0, infinite where their variances are as alike as chance would have them
    variance: s0^2
    all:      degrees of freedom of all of them together
    """

    degrees: float
    variance: float
    all: float

    def of(self, own: float, degrees: int) -> tuple[float, float]:
        """A variance by its own and the others', and its degrees of freedom."""
        if math.isinf(self.degrees):
            return max(own, self.variance), self.all
        both = self.degrees + degrees
        mixed = (self.degrees * self.variance + degrees * own) / both
        return max(own, mixed), min(both, self.all)


def check_confidence(confidence: float, *, of: str) -> None:
    """Raise unless it is one."""
    if not LEAST <= confidence <= MOST:
        allowed = f"in [{LEAST}, {MOST}], as 0.95"
        raise InputError("confidence", of=of, allowed=allowed, got=confidence)


def interval(values: Sequence[float], confidence: float, comparisons: int = 1) -> Interval:
    """The mean of some values with its interval, one of so many that hold at once.

    >>> found = interval([1.0, 2.0, 3.0], 0.95)
    >>> found.mean, round(found.margin, 3)
    (2.0, 2.484)
    """
    mean, count = fmean(values), len(values)
    if count < 2:
        return Interval(mean=mean, margin=None)
    t = t_quantile(1 - (1 - confidence) / (2 * comparisons), count - 1)
    return Interval(mean=mean, margin=t * stdev(values) / math.sqrt(count))


def paired(
    apart: Sequence[float],
    confidence: float,
    comparisons: int = 1,
    moderation: Moderation | None = None,
) -> Difference:
    """The test of differences, one for each seed.

    >>> found = paired([0.10, 0.09, 0.11], 0.95)
    >>> round(found.interval.mean, 3), found.is_told_apart, round(found.p, 3)
    (0.1, True, 0.003)
    """
    mean, count = fmean(apart), len(apart)
    if count < 2:
        return Difference(interval=Interval(mean=mean, margin=None), p=None, seeds=count)
    spread, degrees = variance(apart), float(count - 1)
    if moderation is not None:
        spread, degrees = moderation.of(spread, count - 1)
    error = math.sqrt(spread / count)
    margin = t_quantile(1 - (1 - confidence) / (2 * comparisons), degrees) * error
    t = -abs(mean) / error if error else (-math.inf if mean else 0.0)
    p = 2 * float(_special().stdtr(degrees, t))
    found = Interval(mean=mean, margin=margin)
    return Difference(interval=found, p=min(1.0, comparisons * p), seeds=count)


def moderation(samples: Sequence[Sequence[float]]) -> Moderation | None:
    """What samples say of each other's variance; None where they are too few, or do not vary.

    The moments of log s^2 are matched, as Smyth does; a variance of 0 counts as far below the usual.
    """
    known = [(variance(each), len(each) - 1) for each in samples if len(each) > 1]
    usual = median(found for found, _ in known) if known else 0.0
    if len(known) < FEWEST or usual == 0:
        return None
    special = _special()
    logs = [
        math.log(max(found, LEAST_PART * usual)) - float(special.digamma(d / 2)) + math.log(d / 2)
        for found, d in known
    ]
    chance = fmean(float(special.polygamma(1, d / 2)) for _, d in known)
    excess, mean = variance(logs) - chance, fmean(logs)
    every = float(sum(d for _, d in known))
    if excess <= 0:
        return Moderation(degrees=math.inf, variance=math.exp(mean), all=every)
    half = _inverse_trigamma(excess)
    scale = math.exp(mean + float(special.digamma(half)) - math.log(half))
    return Moderation(degrees=2 * half, variance=scale, all=every)


def _inverse_trigamma(value: float) -> float:
    """The x with trigamma(x) = value, by halving: it falls as x grows."""
    low, high = 1e-8, 1e8
    for _ in range(200):
        middle = math.sqrt(low * high)
        if float(_special().polygamma(1, middle)) > value:
            low = middle
        else:
            high = middle
    return math.sqrt(low * high)


def t_quantile(probability: float, degrees: float) -> float:
    """The quantile of Student's t.

    >>> round(t_quantile(0.975, 2), 3)
    4.303
    """
    return float(_special().stdtrit(degrees, probability))


def z_quantile(probability: float) -> float:
    """The quantile of the normal distribution.

    >>> round(z_quantile(0.975), 3)
    1.96
    """
    return float(_special().ndtri(probability))


def margin_of_test_set(one: float, other: float, samples: int, confidence: float) -> float:
    """How far apart another test set of so many samples may move two accuracies.

    >>> round(margin_of_test_set(0.97, 0.97, 360, 0.95), 4)
    0.0249
    """
    noise = sum(max(p * (1 - p), 0.0) for p in (one, other)) / samples
    return z_quantile(1 - (1 - confidence) / 2) * math.sqrt(noise)


def _special() -> Any:  # noqa: ANN401 - scipy has no types
    return require("scipy.special", extra="sim")
