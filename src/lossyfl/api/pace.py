"""How long the rest will take, by the rounds before."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

RECENT = 20
"""Rounds of a kind whose median is the time of the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining:
    """Rounds that are left, by kind."""

    plain: int
    evaluated: int


def remaining(rounds: int, done: int, *, every: int, last: int) -> Remaining:
    """The rounds after those that are done: with an evaluation every so many, and in all of the last.

    >>> remaining(10, 4, every=4, last=1)
    Remaining(plain=4, evaluated=2)
    """
    numbers = range(done + 1, rounds + 1)
    evaluated = sum(not number % every or number > rounds - last for number in numbers)
    return Remaining(plain=len(numbers) - evaluated, evaluated=evaluated)


class Pace:
    """The time that rounds take, those with an evaluation apart.

    The first round of a run also fills caches: it says nothing of those that follow.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._recent = {kind: deque[float](maxlen=RECENT) for kind in (False, True)}
        self._last: float | None = None

    def begin(self) -> None:
        """A run starts: what comes next is its first round."""
        self._last = None

    def add(self, *, evaluated: bool) -> None:
        """One more round."""
        now = self._clock()
        if self._last is not None:
            self._recent[evaluated].append(now - self._last)
        self._last = now

    def left(self, rounds: Remaining) -> float | None:
        """Seconds for these rounds; None if nothing is known yet."""
        plain, evaluated = self._recent[False], self._recent[True]
        if not plain and not evaluated:
            return None if rounds.plain or rounds.evaluated else 0.0
        return rounds.plain * median(plain or evaluated) + rounds.evaluated * median(
            evaluated or plain
        )
