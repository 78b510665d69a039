"""Levels by Lemma 1: as few as keep the relative variance of the quantizer within a limit.

    E||Q(x) - x||^2 <= eps d ||x||^2 / (4 q^2) <= v ||x||^2      for      q = ceil(sqrt(eps d / (4 v)))

eps = (x_max - x_min)^2 / ||x||^2 is that of the vector at hand, block by block where a block has a range of
its own. A vector with few large entries gets many levels, one whose magnitudes are alike gets few.
"""

import math
from dataclasses import dataclass

from lossyfl.compressors.adaptive import MOST, check_positive, check_range, register
from lossyfl.theory.variance import block_variance
from lossyfl.types import Bounds, Vector


@register("eps")
@dataclass(frozen=True, slots=True, kw_only=True)
class ByEps:
    """A relative variance of at most `variance`, as far as `most` levels reach."""

    variance: float = 1.0
    least: int = 1
    most: int = MOST

    def __post_init__(self) -> None:
        check_positive("variance", self.variance, of="eps")
        check_range(self.least, self.most, of="eps")

    def check(self, rounds: int | None) -> None:
        """It has an answer in every round."""
        del rounds

    def levels(self, x: Vector, bounds: Bounds, round: int) -> int:
        """ceil(sqrt(eps d / (4 variance))), within the range."""
        del round
        wanted = math.ceil(math.sqrt(block_variance(x, bounds) / self.variance))
        return min(max(wanted, self.least), self.most)
