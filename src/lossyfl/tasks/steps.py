"""Step sizes as functions of the round.

0.05                              the same in all rounds
0.1@0/0.01@50                     0.1, and 0.01 from round 50 on
inverse:start=0.1,after=50        0.1 / (1 + t / 50)
exponential:start=0.1,rate=0.99   0.1 * 0.99^t
cosine:start=0.1,rounds=200       half a cosine from 0.1 to 0, which it reaches at round 200
"""

import math
from dataclasses import dataclass
from typing import Protocol

from lossyfl.errors import InputError
from lossyfl.registry import Registry
from lossyfl.types import Steps, parse_steps


class Step(Protocol):
    """A step size for every round."""

    def at(self, round: int) -> float:
        """The step size of a round."""
        ...


_registry: "Registry[Step]" = Registry(
    "step size", makes="a step size (lossyfl.tasks.steps.Step)", methods=("at",)
)
register = _registry.register


def step(spec: str) -> Step:
    """The step size that a text describes.

    >>> step("0.1@0/0.01@50").at(49), step("0.05").at(1000)
    (0.1, 0.05)
    """
    if not spec[:1].isalpha() or spec.lower() in ("nan", "inf", "infinity"):
        return _piecewise(spec)
    return _registry.build(spec)


@register("inverse")
@dataclass(frozen=True, slots=True, kw_only=True)
class Inverse:
    """start / (1 + t / after)."""

    start: float
    after: float = 100

    def __post_init__(self) -> None:
        _positive("start", "inverse", self.start)
        _positive("after", "inverse", self.after)

    def at(self, round: int) -> float:
        """Halved at t = after."""
        return self.start / (1 + round / self.after)


@register("exponential")
@dataclass(frozen=True, slots=True, kw_only=True)
class Exponential:
    """A step size that falls by one factor per round: start * rate^t."""

    start: float
    rate: float = 0.99

    def __post_init__(self) -> None:
        _positive("start", "exponential", self.start)
        _positive("rate", "exponential", self.rate)

    def at(self, round: int) -> float:
        """One factor per round."""
        return self.start * self.rate**round


@register("cosine")
@dataclass(frozen=True, slots=True, kw_only=True)
class Cosine:
    """start (1 + cos(pi t / rounds)) / 2 (Loshchilov and Hutter, ICLR 2017)."""

    start: float
    rounds: int

    def __post_init__(self) -> None:
        _positive("start", "cosine", self.start)
        _positive("rounds", "cosine", self.rounds)

    def at(self, round: int) -> float:
        """From start down to 0, and 0 from then on."""
        return self.start * (1 + math.cos(math.pi * min(round / self.rounds, 1))) / 2


def _piecewise(spec: str) -> Steps[float]:
    allowed = 'a number, "0.1@0/0.01@50", or one of ' + ", ".join(_registry.names())
    wrong = InputError("lr", of="local training", allowed=allowed, got=spec)
    made = parse_steps(spec, float, wrong=wrong)
    if not made.rise:
        raise wrong
    for value in made.values:
        _positive("lr", "local training", value)
    return made


def _positive(what: str, of: str, value: float) -> None:
    number = isinstance(value, int | float)  # pyright: ignore[reportUnnecessaryIsInstance]
    if not number or not 0 < value < float("inf"):
        raise InputError(what, of=of, allowed="a number > 0", got=value)
