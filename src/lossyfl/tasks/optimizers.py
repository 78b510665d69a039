"""What a device does with a gradient.

    sgd:momentum=0.9,decay=1e-4          stochastic gradient descent
    adam:beta1=0.9,beta2=0.999           Kingma and Ba, ICLR 2015

`moments` says what becomes of an optimizer's memory when the round is over:

    reset    every round begins without any; a device keeps nothing
    kept     every device keeps its own for its next round
    shared   all devices begin with the mean of what they ended with; this costs an uplink of its own, or
             a simulation: bytes of moments are not in the ledger
    carried  one optimizer for all devices in turn: its moments and its count of steps go from device to
             device, in the order of their numbers, and from round to round. Of those who train in a round,
             that is: who is away or not asked is passed over, and who replies too late has made its steps.
             This is what a program with one model and one optimizer object does; no federation could, so
             bytes of moments are not counted
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

from lossyfl.errors import InputError
from lossyfl.registry import Registry

if TYPE_CHECKING:  # torch is not needed to check a text
    from collections.abc import MutableMapping

    from torch import Tensor, nn

Keep = Literal["reset", "kept", "shared", "carried"]


class LocalSteps(Protocol):
    """What of `torch.optim.Optimizer` local steps need: torch's own will do."""

    param_groups: list[dict[str, Any]]

    @property
    def state(self) -> "MutableMapping[Tensor, Any]":
        """What it remembers, by parameter and torch's names."""
        ...

    def step(self) -> object:
        """One step along the gradient."""
        ...


class LocalOptimizer(Protocol):
    """An optimizer of local steps, and what becomes of its memory."""

    @property
    def moments(self) -> Keep:
        """What becomes of its memory when a round is over."""
        ...

    @property
    def buffers(self) -> tuple[str, ...]:
        """The names of torch's state vectors that are its memory."""
        ...

    def make(self, parameter: "nn.Parameter") -> LocalSteps:
        """The optimizer of one flat parameter; its step size is set every round."""
        ...


_registry: "Registry[LocalOptimizer]" = Registry(
    "optimizer",
    makes="an optimizer (lossyfl.tasks.optimizers.LocalOptimizer)",
    methods=("make",),
    values=("moments", "buffers"),
)
register = _registry.register


def optimizer(spec: str) -> LocalOptimizer:
    """The optimizer that `name:key=value,...` describes.

    >>> optimizer("adam:moments=kept").moments
    'kept'
    """
    return _registry.build(spec)


@register("sgd")
@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSgd:
    """theta -= lr (g + decay theta), or with momentum: v = momentum v + g + decay theta."""

    momentum: float = 0.0
    decay: float = 0.0
    moments: Keep = "reset"

    def __post_init__(self) -> None:
        _fraction("momentum", "sgd", self.momentum)
        _check_shared("sgd", self.decay, self.moments)

    @property
    def buffers(self) -> tuple[str, ...]:
        """The velocity, where there is one."""
        return ("momentum_buffer",) if self.momentum else ()

    def make(self, parameter: "nn.Parameter") -> LocalSteps:
        """Its steps over the flat parameter."""
        from lossyfl.tasks.flat_optimizers import FlatSgd

        return FlatSgd(parameter, momentum=self.momentum, decay=self.decay)


@register("adam")
@dataclass(frozen=True, slots=True, kw_only=True)
class LocalAdam:
    """theta -= lr m / (sqrt(v) + eps), both means corrected for their start at zero."""

    beta1: float = 0.9
    beta2: float = 0.999
    eps: float = 1e-8
    decay: float = 0.0
    moments: Keep = "reset"

    def __post_init__(self) -> None:
        _fraction("beta1", "adam", self.beta1)
        _fraction("beta2", "adam", self.beta2)
        if not self.eps > 0:
            raise InputError("eps", of="adam", allowed="> 0", got=self.eps)
        _check_shared("adam", self.decay, self.moments)

    @property
    def buffers(self) -> tuple[str, ...]:
        """The running means of gradients and of their squares."""
        return ("exp_avg", "exp_avg_sq")

    def make(self, parameter: "nn.Parameter") -> LocalSteps:
        """Its steps over the flat parameter."""
        from lossyfl.tasks.flat_optimizers import FlatAdam

        betas = (self.beta1, self.beta2)
        return FlatAdam(parameter, betas=betas, eps=self.eps, decay=self.decay)


def _fraction(what: str, of: str, value: float) -> None:
    if not 0 <= value < 1:
        raise InputError(what, of=of, allowed="in [0, 1)", got=value)


def _check_shared(of: str, decay: float, moments: str) -> None:
    if not 0 <= decay < float("inf"):
        raise InputError("decay", of=of, allowed=">= 0", got=decay)
    if moments not in get_args(Keep):
        allowed = " or ".join(get_args(Keep))
        raise InputError("moments", of=of, allowed=allowed, got=moments)
