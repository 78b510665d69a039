"""What a reply may be: rules against senders that mean harm, or whose training went wrong.

    length    no reply is longer than raw floats                                (`replies`)
    peak      no entry beyond LARGEST, alone or summed with weights             (`replies`)
    norm      not beyond `factor` times the usual norm                          (`ReplyRule`)
    weight    none beyond `limit` times the usual weight, where nodes say theirs (`capped_weights`)

The usual norm is the median over the replies of recent rounds: of the last one if it had enough of them,
else of as many rounds as give WINDOW. So it follows a training whose updates shrink or grow, does not depend
on who answers first, and a reply is an outlier only if more than half of all recent ones are below
1 / factor of it. Replies that were refused as outliers count in it, too: where most devices agree on larger
updates from now on, the rule follows them after at most WINDOW replies. Replies of zeros say nothing and do
not count. In the first round there is nothing to compare with but the round itself: all its replies wait,
encoded, until every participant has answered or the round closes. There zeros do count: where more than half
are zeros, others are outliers, and the next round is a first one again. So fewer than half of those that
answer decide nothing, whatever their numbers.

Of two devices neither is an outlier, however they differ: there is no majority. The rule bounds what a
minority can do in one round, not in many: b of n devices that stay below `factor` each outweigh the others as
soon as factor * b > n - b, since honest replies pull back with the usual norm at most; then the model goes
where they lead it, and as honest replies grow with the distance, so does the bound, and the pace. With the
default that is one of 30. Against those, use robust aggregation (a median or a trimmed mean of models), which
needs every reply as a vector, or a small `factor`.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from lossyfl.errors import InputError
from lossyfl.types import Vector

Norm = Literal["off", "warn", "clip", "refuse"]

LARGEST = 2.0**100
"""No entry of a model may be larger: squares, rotations and sums of such vectors are finite still."""
FINITE = 3.4028234663852886e38
"""The largest float32."""
WINDOW = 31
"""Norms that make a median worth the name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyRule:
    """What to do with a reply whose norm is beyond `factor` times the usual one.

    factor: honest replies vary, above all those that carry what lost ones left over; a stranger's is as
            good as any up to here, so it is no larger than it need be
    norm: "off" compares no norms; "warn" takes the reply and notes it; "clip" takes it, scaled down
          to the bound, and notes it; "refuse" refuses it

    >>> ReplyRule(factor=10).bound(2.5)
    25.0
    """

    norm: Norm = "refuse"
    factor: float = 30.0

    def __post_init__(self) -> None:
        if self.norm not in get_args(Norm):
            allowed = ", ".join(f'"{name}"' for name in get_args(Norm))
            raise InputError("norm", of="ReplyRule", allowed=f"one of {allowed}", got=self.norm)
        if not 1 <= self.factor < math.inf:
            raise InputError("factor", of="ReplyRule", allowed=">= 1 and finite", got=self.factor)

    def bound(self, reference: float) -> float:
        """The largest norm, if there is a reference; else infinity."""
        return self.factor * reference if reference else math.inf


@dataclass(slots=True, kw_only=True)
class Norms:
    """The norms of replies, as far back as the rule compares.

    reference: the usual norm, 0 while it is not known
    now:       of the open round, by device, whether the reply was accepted or an outlier
    recent:    of rounds before, oldest first
    """

    reference: float = 0.0
    now: dict[int, float] = field(default_factory=dict[int, float])
    recent: tuple[tuple[float, ...], ...] = ()

    def next_round(self) -> None:
        """The open round becomes the newest of the recent ones; rounds that are not needed are dropped."""
        newest = tuple(self.now[device] for device in sorted(self.now) if self.now[device])
        kept = (*self.recent, newest) if newest else self.recent
        while kept and sum(map(len, kept[1:])) >= WINDOW:
            kept = kept[1:]
        self.recent, self.now = kept, {}
        self.reference = usual(norm for each in kept for norm in each)

    def copied(self) -> "Norms":
        """The same with a dictionary of its own."""
        return replace(self, now=dict(self.now))


def is_mostly_zero(norms: Iterable[float]) -> bool:
    """Whether more than half of the replies of a round say nothing.

    >>> is_mostly_zero([0.0, 0.0, 5.0]), is_mostly_zero([0.0, 5.0]), is_mostly_zero([])
    (True, False, False)
    """
    known = list(norms)
    return 2 * sum(norm == 0 for norm in known) > len(known)


def usual(norms: Iterable[float]) -> float:
    """The upper median of all norms but zeros; 0 if there are none.

    >>> usual([3.0, 0.0, 1.0, 2.0]), usual([1.0, 9.0]), usual([])
    (2.0, 9.0, 0.0)
    """
    ordered = sorted(norm for norm in norms if norm)
    return ordered[len(ordered) // 2] if ordered else 0.0


def capped_weights(weights: Mapping[int, int], limit: float = 10.0) -> dict[int, int]:
    """Weights that devices say of themselves, none above `limit` times the lower median of them.

    Zeros count nothing and are left out, but where all are zero all count the same: who lies about its
    samples can neither own the mean nor end the training.

    >>> capped_weights({0: 60, 1: 50, 2: 2**53, 3: 0})
    {0: 60, 1: 50, 2: 600}
    >>> capped_weights({0: 0, 1: 0})
    {0: 1, 1: 1}
    """
    if not 1 <= limit < math.inf:
        raise InputError("limit", of="capped_weights", allowed=">= 1 and finite", got=limit)
    for device, weight in weights.items():
        if type(weight) is not int or weight < 0:
            raise InputError("weight", of=f"device {device}", allowed="an int >= 0", got=weight)
    ordered = sorted(weight for weight in weights.values() if weight)
    if not ordered:
        return dict.fromkeys(weights, 1)
    most = int(limit * ordered[(len(ordered) - 1) // 2])
    return {device: min(weight, most) for device, weight in weights.items() if weight}


def is_within(x: Vector, largest: float = LARGEST) -> bool:
    """Whether all entries are finite and no larger; a NaN is not.

    >>> import numpy as np
    >>> is_within(np.float32([1, -2])), is_within(np.float32([1, np.nan])), is_within(np.float32([2e38]))
    (True, False, False)
    """
    return not x.size or bool(x.min() >= -largest and x.max() <= largest)
