"""Levels by the distance ||theta - theta_hat||: in proportion to the norm of what a link quantizes.

    levels = ceil(q ||x|| / at)

So a vector of the norm `at` has q levels, and one twice as long has twice as many. As long as eps does
not change, that keeps the limit of Lemma 1 on the absolute error, eps d ||x||^2 / (4 levels^2), at that of
the vector of norm `at`: fine frames while the model moves far, coarse ones later. On LFL's downlink x is
theta - theta_hat; reports draw its norm per round.
"""

import math
from dataclasses import dataclass

from lossyfl.compressors.adaptive import MOST, check_positive, check_range, register
from lossyfl.quantizers.stochastic import check_levels
from lossyfl.theory.variance import length
from lossyfl.types import Bounds, Vector


@register("distance")
@dataclass(frozen=True, slots=True, kw_only=True)
class ByDistance:
    """`q` levels for a vector of norm `at`, others in proportion."""

    q: int = 2
    at: float = 1.0
    least: int = 1
    most: int = MOST

    def __post_init__(self) -> None:
        check_levels(self.q, of="distance")
        check_positive("at", self.at, of="distance")
        check_range(self.least, self.most, of="distance")

    def check(self, rounds: int | None) -> None:
        """It has an answer in every round."""
        del rounds

    def levels(self, x: Vector, bounds: Bounds, round: int) -> int:
        """ceil(q ||x|| / at), within the range."""
        del bounds, round
        wanted = min(self.q * length(x) / self.at, float(self.most))
        return min(max(math.ceil(wanted), self.least), self.most)
