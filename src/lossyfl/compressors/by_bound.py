"""Levels by Theorem 1: few at first, many at the end, so that the bound after all rounds is least.

In the bound on E||theta(T) - theta*||^2 the broadcast of round i = 1 ... T - 1 has the term

    c A^(T - i) / q(i)^2      with      A = 1 - mu eta (tau - eta (tau - 1)),  c = (eta tau G / 2)^2 eps d

as its error shrinks by A in every round that follows. Levels that make the sum of these least, where the sum
of log q(i), and so about the bits, is that of q levels throughout, go with the root of A^(T - i):

    q(i) = q A^((T - 2 i) / 4)

G, eps, Gamma and L are the same for all rounds and play no part. Rounding to whole numbers, and `least`, cost
a little of that. The theorem is about strongly convex losses, plain SGD of one step size and exact replies.
"""

from dataclasses import dataclass
from math import floor, sqrt

from lossyfl.compressors.adaptive import MOST, check_positive, check_range, register
from lossyfl.errors import InputError
from lossyfl.types import Bounds, Vector


@register("bound")
@dataclass(frozen=True, slots=True, kw_only=True)
class ByBound:
    """The levels of every round that make Theorem 1's bound after `rounds` least, as many as q in the mean.

    mu:  strong convexity of every device's loss, as a weight decay gives
    eta: the step size, in (0, min(1, 1 / (mu tau))]
    """

    rounds: int
    mu: float
    eta: float
    q: float = 2.0
    tau: int = 1
    least: int = 1
    most: int = MOST

    def __post_init__(self) -> None:
        for what, count in (("rounds", self.rounds), ("tau", self.tau)):
            if type(count) is not int or count < 1:
                raise InputError(what, of="bound", allowed="an int >= 1", got=count)
        for what, value in (("mu", self.mu), ("eta", self.eta), ("q", self.q)):
            check_positive(what, value, of="bound")
        limit = min(1.0, 1.0 / (self.mu * self.tau))
        if self.eta > limit or self.contraction <= 0:
            allowed = f"in (0, {limit:g}), which is (0, min(1, 1 / (mu tau)))"
            raise InputError("eta", of="bound", allowed=allowed, got=self.eta)
        check_range(self.least, self.most, of="bound")

    @property
    def contraction(self) -> float:
        """A: what is left of an error after a round."""
        return 1 - self.mu * self.eta * (self.tau - self.eta * (self.tau - 1))

    def check(self, rounds: int | None) -> None:
        """Raise if there are more rounds than it was made for."""
        if rounds is not None and rounds > self.rounds:
            allowed = f"as many as the run has, {rounds}"
            raise InputError("rounds", of="bound", allowed=allowed, got=self.rounds)

    def levels(self, x: Vector, bounds: Bounds, round: int) -> int:
        """Q A^((rounds - 2 round) / 4), to the nearest, within the range."""
        del x, bounds
        wanted = self.exact(round)
        return min(max(floor(min(wanted, float(self.most)) + 0.5), self.least), self.most)

    def exact(self, round: int) -> float:
        """The levels before they are rounded, by products and roots: the same on every processor."""
        steps = self.rounds - 2 * round
        root = sqrt(sqrt(self.contraction))
        return self.q * _power(root if steps >= 0 else 1 / root, abs(steps))


def _power(base: float, exponent: int) -> float:
    """The power by squares.

    >>> _power(0.5, 5) == 0.5**5
    True
    """
    result = 1.0
    while exponent:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result
