"""The strategy inside: its own loop of rounds, and its attributes.

Strategies may bring a `start` of their own, to log, to keep the best model, to change settings between
rounds. It is called as ever, while its steps lead to the strategy around it, which keeps what they were.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, cast

from flwr.serverapp.strategy import FedAvg, FedProx, Strategy

from lossyfl.errors import InputError
from lossyfl.protocol.optimizers import PlainStep
from lossyfl.protocol.schemes import Scheme, scheme

STEPS = (
    "configure_train",
    "aggregate_train",
    "configure_evaluate",
    "aggregate_evaluate",
    "summary",
)
"""What Flower's `start` calls."""


class InnerSteps:
    """The steps of a strategy, as they were before it was led elsewhere."""

    def __init__(self, strategy: Strategy) -> None:
        self.configure_train = strategy.configure_train
        self.aggregate_train = strategy.aggregate_train
        self.configure_evaluate = strategy.configure_evaluate
        self.aggregate_evaluate = strategy.aggregate_evaluate
        self.summary = strategy.summary


def own_start(inner: Strategy) -> Callable[..., Any] | None:
    """The `start` of a strategy, if it is not Flower's."""
    is_own = "start" in vars(inner) or type(inner).start is not Strategy.start
    return inner.start if is_own else None


@contextmanager
def led_to(outer: Strategy, inner: Strategy) -> Generator[None]:
    """Let the steps of a strategy be those of the one around it."""
    before = {name: vars(inner)[name] for name in STEPS if name in vars(inner)}
    for name in STEPS:
        setattr(inner, name, getattr(outer, name))
    try:
        yield
    finally:
        for name in STEPS:
            delattr(inner, name)
        vars(inner).update(before)


def checked_scheme(inner: Strategy, spec: str, *, outer: type[Strategy]) -> Scheme:
    """The scheme, if it suits the inner strategy."""
    found = cast("object", inner)
    if not isinstance(found, Strategy) or isinstance(found, outer):
        allowed = "a strategy of flwr.serverapp.strategy, not wrapped yet"
        raise InputError("inner", of="LossyStrategy", allowed=allowed, got=type(inner).__name__)
    if "xgb" in type(inner).__name__.lower():
        allowed = "a strategy that works on arrays of floats"
        raise InputError("inner", of="LossyStrategy", allowed=allowed, got=type(inner).__name__)
    if not isinstance(cast("object", spec), str):
        allowed = 'a text, such as "lfl:q1=2,q2=2", or "lossless" for exact floats'
        raise InputError("scheme", of="LossyStrategy", allowed=allowed, got=spec)
    chosen = scheme(spec)
    if not isinstance(chosen.optimizer, PlainStep) and not averages(inner):
        allowed = f"none with {type(inner).__name__}, which takes the server's step itself"
        raise InputError("server_optimizer", of="LossyStrategy", allowed=allowed, got=spec)
    return chosen


def averages(inner: Strategy) -> bool:
    """Whether a strategy is FedAvg as it comes: then the server takes the mean, and it sees no arrays."""
    return type(inner) in (FedAvg, FedProx)
