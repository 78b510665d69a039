"""A race: who is hopeless after the first seed runs no other, with a stated rate of false alarms.

A false alarm is a scheme given up that in truth learns well enough. The least that is well enough is the mean
of a reference over S seeds, less a tolerance, or a number. A scheme that learns just that well, and varies
from seed to seed as much as those that do, with a standard deviation s of d degrees of freedom, has a first
value below

    least - t(1 - alpha / m, d) s sqrt(1 + 1 / S)        (1 / S is 0 for a number)

with a probability of alpha / m. So the rate is at most alpha for all m tests of a search together: one for
each scheme, or, where the reference is the best so far, one for each pair, as the values have chosen it. What
is assumed: values of different seeds are independent and normal, and schemes that learn well enough vary
alike. s is estimated from the reference and all others that have run every seed. Seeds are shared, so a
scheme and its reference rise and fall together; then false alarms are rarer still.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import variance

from lossyfl.errors import InputError
from lossyfl.experiments.significance import check_confidence, t_quantile


@dataclass(frozen=True, slots=True, kw_only=True)
class Race:
    """How many seeds a scheme runs, and how sure a verdict is.

    confidence: one minus the rate of false alarms of a whole search
    tests:      of a search, at the most: m
    sign:       1 where higher values are better, -1 where lower are
    """

    seeds: int = 1
    confidence: float = 0.95
    tests: int = 1
    sign: int = 1

    def __post_init__(self) -> None:
        if self.seeds < 1:
            raise InputError("seeds", of="tune", allowed="an int >= 1", got=self.seeds)
        check_confidence(self.confidence, of="tune")

    def is_hopeless(
        self, first: float, least: float, alike: Sequence[Sequence[float]], reference: int
    ) -> bool:
        """Whether a scheme whose first seed came to so much need not run others.

        least:     what is well enough
        alike:     values by seed of schemes that vary as one does that learns well enough
        reference: the seeds that `least` is the mean of; 0 for a number
        """
        margin = self.margin(alike, reference)
        if margin is None or self.seeds == 1:
            return False
        return self.sign * (least - first) > margin

    def margin(self, alike: Sequence[Sequence[float]], reference: int) -> float | None:
        """How far below well enough is hopeless; None where nobody knows how seeds vary."""
        known = [each for each in alike if len(each) > 1]
        degrees = sum(len(each) - 1 for each in known)
        if not degrees:
            return None
        spread = sum((len(each) - 1) * variance(each) for each in known) / degrees
        t = t_quantile(1 - (1 - self.confidence) / max(self.tests, 1), degrees)
        return t * math.sqrt(spread * (1 + (1 / reference if reference else 0)))
