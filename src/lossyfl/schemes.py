"""The paper's five systems, each a pair of links by name.

    name      downlink                              uplink                server model
    lossless  theta, exact                          update, exact         theta + sum
    lb        theta, exact                          Q(update + delta)     theta + sum
    lfl       Q(theta - theta_hat)                  Q(update + delta)     theta_hat + sum   (line 6)
    lgm       Q(theta + e), e the error so far      Q(update + delta)     theta + sum
    ltgm      Q(H theta), H a random rotation       Q(update + delta)     theta + sum

`server_model` says from which vector the server goes on: the devices' "estimate", or its own,
"preserved". q1 and q2 are numbers, or change with the round: "8@0/4@50" is 8, and 4 from round 50 on.
"""

from dataclasses import dataclass
from typing import Literal, get_args

from lossyfl.errors import InputError
from lossyfl.links import Direct, ErrorFeedback, Link, Lossless, Schedule, Tracked
from lossyfl.optimizers import Optimizer, optimizer
from lossyfl.quantizers.rotated import Rotated
from lossyfl.quantizers.stochastic import Stochastic
from lossyfl.registry import Registry
from lossyfl.types import Scale

ServerModel = Literal["estimate", "preserved"]
Levels = int | str

_registry: "Registry[Scheme]" = Registry("scheme")


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """A pair of links, and what the server does between them."""

    name: str
    downlink: Link
    uplink: Link
    server_model: ServerModel
    optimizer: Optimizer

    def __post_init__(self) -> None:
        if self.server_model not in get_args(ServerModel):
            allowed = '"estimate" or "preserved"'
            raise InputError("server_model", of=self.name, allowed=allowed, got=self.server_model)


def scheme(spec: str) -> Scheme:
    """The scheme that `name:key=value,...` describes.

    >>> scheme("lfl:q1=2,q2=2").server_model
    'estimate'
    """
    return _registry.build(spec)


def names() -> list[str]:
    """The names of all schemes."""
    return _registry.names()


@_registry.register("lossless")
def lossless(
    *,
    server_model: ServerModel = "preserved",
    server_optimizer: str = "none",
    server_lr: float | None = None,
) -> Scheme:
    """Everything exact, both ways."""
    return Scheme(
        name="lossless",
        downlink=Lossless(),
        uplink=Lossless(),
        server_model=server_model,
        optimizer=optimizer(server_optimizer, server_lr),
    )


@_registry.register("lb")
def lb(
    *,
    q2: Levels = 2,
    scale: Scale = "model",
    server_model: ServerModel = "preserved",
    server_optimizer: str = "none",
    server_lr: float | None = None,
) -> Scheme:
    """Lossless broadcast: the model exact, updates quantized with error compensation."""
    return Scheme(
        name="lb",
        downlink=Lossless(),
        uplink=ErrorFeedback(quantizer=levels(q2, scale)),
        server_model=server_model,
        optimizer=optimizer(server_optimizer, server_lr),
    )


@_registry.register("lfl")
def lfl(
    *,
    q1: Levels = 2,
    q2: Levels = 2,
    scale: Scale = "model",
    server_model: ServerModel = "estimate",
    compensate_server: bool = False,
    server_optimizer: str = "none",
    server_lr: float | None = None,
) -> Scheme:
    """Lossy federated learning, Algorithm 1: the change of the model quantized, and the updates."""
    return Scheme(
        name="lfl",
        downlink=Tracked(quantizer=levels(q1, scale), compensate=compensate_server),
        uplink=ErrorFeedback(quantizer=levels(q2, scale)),
        server_model=server_model,
        optimizer=optimizer(server_optimizer, server_lr),
    )


@_registry.register("lgm")
def lgm(
    *,
    q1: Levels = 2,
    q2: Levels = 2,
    scale: Scale = "model",
    server_model: ServerModel = "preserved",
    compensate_server: bool = True,
    server_optimizer: str = "none",
    server_lr: float | None = None,
) -> Scheme:
    """Lossy global model: the model itself quantized, its error kept (Tang et al., 2019)."""
    link = ErrorFeedback if compensate_server else Direct
    return Scheme(
        name="lgm",
        downlink=link(quantizer=levels(q1, scale)),
        uplink=ErrorFeedback(quantizer=levels(q2, scale)),
        server_model=server_model,
        optimizer=optimizer(server_optimizer, server_lr),
    )


@_registry.register("ltgm")
def ltgm(
    *,
    q1: Levels = 50,
    q2: Levels = 2,
    scale: Scale = "model",
    server_model: ServerModel = "preserved",
    server_optimizer: str = "none",
    server_lr: float | None = None,
) -> Scheme:
    """Lossy transformed global model: rotated, then quantized (Caldas et al., 2018)."""
    plain = levels(q1, scale)
    rotated = tuple(Rotated(inner=inner) for inner in plain.quantizers)
    return Scheme(
        name="ltgm",
        downlink=Direct(quantizer=Schedule(plain.rounds, rotated)),
        uplink=ErrorFeedback(quantizer=levels(q2, scale)),
        server_model=server_model,
        optimizer=optimizer(server_optimizer, server_lr),
    )


def levels(q: Levels, scale: Scale) -> Schedule:
    """The paper's quantizer with q levels, or with levels that change with the round.

    >>> levels("8@0/2@50", "model").at(60)
    Stochastic(levels=2, scale='model')
    """
    if isinstance(q, int):
        return Schedule.constant(Stochastic(levels=q, scale=scale))
    pairs = [step.partition("@")[::2] for step in str(q).split("/")]
    try:
        steps = [(int(start or 0), int(value)) for value, start in pairs]
    except ValueError:
        allowed = 'a number, or levels and the rounds they begin, as "8@0/4@50"'
        raise InputError("q", of="scheme", allowed=allowed, got=q) from None
    quantizers = tuple(Stochastic(levels=value, scale=scale) for _, value in steps)
    return Schedule(tuple(start for start, _ in steps), quantizers)
