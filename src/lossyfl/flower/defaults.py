"""Which scheme a strategy gets if none is named, and which it should not have (docs/adr/0006).

A mean of replies is right in the mean however coarse they are: errors of nodes cancel. A median is not: where
most nodes send zero for an entry, which at q = 2 is usual, their median is zero whatever the others say, and
nothing is learned. A trimmed mean cuts off those that do say something; choosing one reply takes its error
as it is; and steps that are divided by the size of updates are divided by the size of their errors, too.
"""

from collections.abc import Sequence

from flwr.serverapp.strategy import (
    Bulyan,
    FedAdagrad,
    FedAdam,
    FedMedian,
    FedTrimmedAvg,
    FedYogi,
    Krum,
    MultiKrum,
    QFedAvg,
    Strategy,
)

from lossyfl.links import ErrorFeedback
from lossyfl.protocol.schemes import Scheme
from lossyfl.quantizers.stochastic import Stochastic
from lossyfl.types import Shape
from lossyfl.wire.shapes import entries_of

FOR_MEANS = "lfl:q1=5,q2=5,scale=tensor"
FOR_OTHERS = "lfl:q1=5,q2=8,scale=tensor"
FIRST = ",first_budget=12bit"
"""Of the initial model, which is the larger part of all bytes of a short training."""
LARGE, LONG = 1000, 32
"""Entries of a model, and of its tensors on average, from which on that saves bytes."""
FORMER = "lfl:q1=2,q2=2"
"""What was the default before; checkpoints of such trainings go on with it."""
NO_MEAN = (
    *(FedMedian, FedTrimmedAvg, Krum, MultiKrum, Bulyan),
    *(FedAdam, FedYogi, FedAdagrad, QFedAvg),
)
FINE = 8
"""Levels at which these learned as they do plain (`scripts/strategies.py`)."""


def default_scheme(inner: Strategy, tensors: Sequence[Shape] = (LARGE,)) -> str:
    """What is sent if nobody says so, of a model with tensors of these shapes."""
    chosen = FOR_MEANS if _no_mean(inner) is None else FOR_OTHERS
    return chosen + FIRST if entries_of(tensors) >= max(LARGE, LONG * len(tensors)) else chosen


def coarse(inner: Strategy, chosen: Scheme) -> tuple[str, ...]:
    """What to say of a strategy whose replies are too coarse for it; nothing of others."""
    name = _no_mean(inner)
    link = chosen.uplink
    quantizers = link.compressor.quantizers if isinstance(link, ErrorFeedback) else ()
    levels = [own.levels for own in quantizers if isinstance(own, Stochastic)]
    if name is None or not levels or min(levels) >= FINE:
        return ()
    said = (
        f"{name} takes no mean, in which errors of nodes would cancel: with q2={min(levels)} it learns more "
        f"slowly, or not at all; take q2={FINE},scale=tensor or more"
    )
    return (said,)


def _no_mean(inner: Strategy) -> str | None:
    """The name of the strategy that is no mean of replies, itself or inside; None for none."""
    if isinstance(inner, NO_MEAN):
        return type(inner).__name__
    inside = getattr(inner, "strategy", None)  # as wrappers of Flower's have it
    return _no_mean(inside) if isinstance(inside, Strategy) else None
