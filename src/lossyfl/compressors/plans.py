"""Texts that say how many bytes frames may take, and how that changes with the round.

    20kB                    a frame
    0.5bit                  per entry
    nmse=0.1                the relative error, at the fewest bytes
    40kB@0/10kB@100         other budgets from some round on
    6MB/300rounds           over a whole run, evenly
    40kB..10kB/300rounds    from one to the other, by the same part each round

A text is read once, where somebody wrote it, and becomes a BudgetPlan of targets.
"""

import re
from dataclasses import dataclass
from typing import cast

from lossyfl.errors import InputError
from lossyfl.quantizers.targets import ALLOWED, Target, target
from lossyfl.types import Steps, parse_steps


@dataclass(frozen=True, slots=True)
class Slide:
    """From one target to another of the same kind, by the same factor in each of so many rounds."""

    values: tuple[Target, Target]
    over: int

    def at(self, round: int) -> Target:
        """The target of a round; from the last one on it stays."""
        first, last = (cast("float", each.bits or each.rate) for each in self.values)
        part = min(round / max(self.over - 1, 1), 1.0)
        value = first * (last / first) ** part
        return Target(bits=value) if self.values[0].bits else Target(rate=value)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetPlan:
    """The target of every round.

    spent: rounds after which nothing is left; 0 for never
    """

    course: Steps[Target] | Slide
    spent: int = 0

    @property
    def targets(self) -> tuple[Target, ...]:
        """Those that a text says; a slide has others between them."""
        return self.course.values

    @property
    def is_for_many(self) -> bool:
        """Whether it means something for several frames only."""
        return len(self.targets) > 1 or self.spent > 0

    def check(self, rounds: int, *, of: str) -> None:
        """Raise if nothing would be left before so many rounds are over."""
        if self.spent and rounds > self.spent:
            allowed = f"for as many rounds as there are, at least {rounds}"
            got = f"a budget over {self.spent} rounds"
            raise InputError("budget", of=of, allowed=allowed, got=got)

    def at(self, round: int) -> Target:
        """The target of a round."""
        return self.course.at(round)


LONGEST_ROUNDS = 10
"""Digits of a number of rounds: frames count them in 32 bits."""


def plan(text: str, *, of: str, first: int = 0) -> BudgetPlan:
    """The plan that a text spells.

    of:    whose it is, for messages
    first: the first round with a frame, for what is to be spent over a whole run

    >>> plan("40kB@0/10kB@100", of="a link").at(99).bits
    320000.0
    >>> plan("3MB/300rounds", of="a link").at(7).bits
    80000.0
    """
    spread = re.fullmatch(r"(.+)/(\d+)rounds", text)
    example = "40kB..10kB/300rounds" if ".." in text else "6MB/300rounds"
    wrong = InputError("budget", of=of, allowed=f"bytes over rounds, as {example}", got=text)
    if spread is None:
        if ".." in text or re.search(r"/\d*\s*(rounds?)?$", text):
            raise wrong
        return BudgetPlan(course=_stepwise(text, of))
    if len(spread[2]) > LONGEST_ROUNDS:
        raise wrong
    rounds = int(spread[2])
    ends = [target(part, of=of, name="budget") for part in spread[1].split("..")]
    if rounds < 1 or len(ends) > 2 or any(each.nmse for each in ends):
        raise wrong
    if len(ends) == 2:
        if (ends[0].bits is None) != (ends[1].bits is None):
            raise InputError("budget", of=of, allowed="the same unit at both ends", got=text)
        return BudgetPlan(course=Slide((ends[0], ends[1]), rounds))
    if ends[0].bits is None:
        raise wrong
    each = Target(bits=ends[0].bits / max(rounds - first, 1))
    return BudgetPlan(course=Steps((0,), (each,)), spent=rounds)


def _stepwise(text: str, of: str) -> Steps[Target]:
    wrong = InputError("budget", of=of, allowed=ALLOWED, got=text)
    steps = parse_steps(text, lambda said: target(said, of=of, name="budget"), wrong=wrong)
    if not steps.rise:
        allowed = "rounds that rise from 0, as 40kB@0/10kB@100"
        raise InputError("budget", of=of, allowed=allowed, got=text)
    return steps
