"""What the server does with the aggregated update: add it, or take a step of its own.

Reddi et al., "Adaptive federated optimization", ICLR 2021 (FedAvgM, FedAdam). Line 6 of Algorithm 1 then
reads theta(t+1) = theta_hat(t) + step(sum).
"""

from dataclasses import dataclass, field
from numbers import Real
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import InputError
from lossyfl.registry import Registry
from lossyfl.types import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Moments:
    """What an optimizer remembers; empty vectors for what it does not need."""

    first: Vector = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    second: Vector = field(default_factory=lambda: np.zeros(0, dtype=np.float32))


class Optimizer(Protocol):
    """A step from an aggregated update."""

    def init(self, entries: int) -> Moments:
        """The moments before the first round."""
        ...

    def step(self, update: Vector, moments: Moments) -> tuple[Vector, Moments]:
        """What to add to the model, and the next moments."""
        ...


_registry: Registry[Optimizer] = Registry(
    "server_optimizer",
    makes="an optimizer (lossyfl.protocol.optimizers.Optimizer)",
    methods=("init", "step"),
)


@_registry.register("none")
@dataclass(frozen=True, slots=True, kw_only=True)
class PlainStep:
    """Adds the update, as the paper does."""

    def init(self, entries: int) -> Moments:
        """Nothing to remember."""
        del entries
        return Moments()

    def step(self, update: Vector, moments: Moments) -> tuple[Vector, Moments]:
        """The update itself."""
        return update, moments


@_registry.register("momentum")
@dataclass(frozen=True, slots=True, kw_only=True)
class Momentum:
    """m' = beta m + update; step = rate m'."""

    rate: float = 1.0
    beta: float = 0.9

    def __post_init__(self) -> None:
        _check(self.rate, "Momentum", beta=self.beta)

    def init(self, entries: int) -> Moments:
        """No momentum yet."""
        return Moments(first=np.zeros(entries, dtype=np.float32))

    def step(self, update: Vector, moments: Moments) -> tuple[Vector, Moments]:
        """The step along the momentum, rate m', and the moments after it."""
        first = np.float32(self.beta) * moments.first + update
        return np.float32(self.rate) * first, Moments(first=first)


@_registry.register("adam")
@dataclass(frozen=True, slots=True, kw_only=True)
class Adam:
    """m' = b1 m + (1 - b1) u; v' = b2 v + (1 - b2) u^2; step = rate m' / (sqrt(v') + floor)."""

    rate: float = 0.003
    beta1: float = 0.9
    beta2: float = 0.99
    floor: float = 1e-3

    def __post_init__(self) -> None:
        _check(self.rate, "Adam", beta1=self.beta1, beta2=self.beta2)
        if not _is_number(self.floor) or not 0 < self.floor < np.inf:
            raise InputError("floor", of="Adam", allowed="> 0 and finite", got=self.floor)

    def init(self, entries: int) -> Moments:
        """No moments yet."""
        zeros = np.zeros(entries, dtype=np.float32)
        return Moments(first=zeros, second=zeros)

    def step(self, update: Vector, moments: Moments) -> tuple[Vector, Moments]:
        """The step rate m' / (sqrt(v') + floor), entry by entry, and the moments after it."""
        b1, b2, one = np.float32(self.beta1), np.float32(self.beta2), np.float32(1)
        first = b1 * moments.first + (one - b1) * update
        second = b2 * moments.second + (one - b2) * update * update
        step = np.float32(self.rate) * first / (np.sqrt(second) + np.float32(self.floor))
        return _float32(step), Moments(first=_float32(first), second=_float32(second))


def _float32(x: NDArray[np.floating]) -> Vector:
    """x, which is float32 already; the type checker does not see it."""
    return x.astype(np.float32, copy=False)


def optimizer(spec: str, rate: float | None = None) -> Optimizer:
    """The optimizer that a spec describes: none, momentum or adam, with their options.

    >>> optimizer("adam", 0.001)
    Adam(rate=0.001, beta1=0.9, beta2=0.99, floor=0.001)
    >>> optimizer("momentum(beta=0.5)")
    Momentum(rate=1.0, beta=0.5)
    """
    if rate is not None and (isinstance(rate, str) or not np.isfinite(rate)):
        raise InputError("server_lr", of="scheme", allowed="a number", got=rate)
    made = _registry.build(str(spec), {} if rate is None else {"rate": rate})
    if rate is not None and "rate" in _registry.options(str(spec)):
        allowed = "left out where the server_optimizer says its rate"
        raise InputError("server_lr", of="scheme", allowed=allowed, got=rate)
    if rate is not None and not hasattr(made, "rate"):
        allowed = "left out without a server_optimizer that has a rate"
        raise InputError("server_lr", of="scheme", allowed=allowed, got=rate)
    return made


def _check(rate: float, of: str, **betas: float) -> None:
    if not _is_number(rate) or not 0 < rate < np.inf:
        raise InputError("rate", of=of, allowed="> 0 and finite", got=rate)
    for name, beta in betas.items():
        if not _is_number(beta) or not 0 <= beta < 1:
            raise InputError(name, of=of, allowed="in [0, 1)", got=beta)


def _is_number(value: object) -> bool:
    """Options come from texts: they may be anything."""
    return type(value) is not bool and isinstance(value, Real)
