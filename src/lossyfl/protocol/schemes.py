"""The paper's five systems and ours, each a pair of links by name.

    name      downlink                              uplink                server model
    lossless  theta, exact                          update, exact         theta + sum
    lb        theta, exact                          Q(update + delta)     theta + sum
    lfl       Q(theta - theta_hat)                  Q(update + delta)     theta_hat + sum   (line 6)
    lgm       Q(theta + e), e the error so far      Q(update + delta)     theta + sum
    ltgm      Q(H theta), H a random rotation       Q(update + delta)     theta + sum
    lean      C(theta - theta_hat), or less (*)     C(update + delta)     theta + sum

(*) with predict=true, what the movement so far does not tell.

`server_model` says from which vector the server goes on: the devices' "estimate", or its own,
"preserved". q1 and q2 are numbers, or change with the round: "8@0/4@50" is 8, and 4 from round 50 on.
q2=exact sends updates as they are, as Theorem 1 assumes.
lean's C is any quantizer, within a budget of bytes if one is given. Its server keeps what devices have not
heard yet, as in EF21-P (Gruntkowska et al., ICML 2023) and MCM (Philippenko and Dieuleveut, NeurIPS 2021),
so that biased quantizers, which are far better at low rates, may be used.

What would diverge is refused in ours, and said before the first round in the paper's: see `Scheme`.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from lossyfl.compressors import Compressor, Damped, Schedule, VarianceGuard
from lossyfl.compressors.budgeted import budgeted, budgeted_once
from lossyfl.errors import Caution, InputError, one_of
from lossyfl.links import Direct, ErrorFeedback, Link, Lossless, Tracked
from lossyfl.protocol.optimizers import Optimizer, optimizer
from lossyfl.quantizers import quantizer
from lossyfl.quantizers.deadzone import Deadzone
from lossyfl.quantizers.rotated import Rotated, Signs
from lossyfl.quantizers.stochastic import Stochastic
from lossyfl.registry import Registry
from lossyfl.types import Quantizer, Scale, parse_steps

ServerModel = Literal["estimate", "preserved"]
Levels = int | str

Membership = Literal["catch-up", "full-model"]
_registry: "Registry[Scheme]" = Registry(
    "scheme", makes="a scheme (lossyfl.Scheme)", methods=("cautions", "check", "check_state")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheme:
    """A pair of links, and what the server does between them.

    first:   makes the frame of the initial model, from which the server starts, too; exact floats if None
    membership: what happens when other devices listen than in the round before: those that missed
                something catch up, or all get the full model, as the paper says
    guarded: whether what is known to diverge is refused; the paper's own systems run, with a Caution
    spec:    what `scheme` was given, the same for all spellings; empty for one that was put together by hand
    """

    name: str
    downlink: Link
    uplink: Link
    server_model: ServerModel
    optimizer: Optimizer
    first: Compressor | None = None
    guarded: bool = True
    membership: Membership = "catch-up"
    spec: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if self.server_model not in get_args(ServerModel):
            allowed = '"estimate" or "preserved"'
            raise InputError("server_model", of=self.name, allowed=allowed, got=self.server_model)
        if self.membership not in get_args(Membership):
            allowed = one_of(get_args(Membership), self.membership)
            raise InputError("membership", of=self.name, allowed=allowed, got=self.membership)
        self._check_biased()
        self._check_predicted()
        if self.guarded:
            self._check_kept()

    def _check_biased(self) -> None:
        """Raise if what a biased quantizer leaves out is never sent: it must be kept somewhere."""
        link = self.downlink
        forgets = isinstance(link, Direct) or (
            isinstance(link, Tracked) and self.server_model == "estimate" and not link.compensate
        )
        if forgets and not all(quantizer.unbiased for quantizer in _quantizers(link)):
            allowed = "unbiased, or the server's model preserved: what it leaves out would be lost"
            got = "biased, with server_model=estimate"
            raise InputError("downlink quantizer", of=self.name, allowed=allowed, got=got)

    def _check_predicted(self) -> None:
        """Raise if the better of two frames is sent where their mean must be right."""
        predicts = isinstance(self.downlink, Tracked) and self.downlink.predict
        if predicts and self.server_model == "estimate":
            allowed = "false, or the server's model preserved"
            raise InputError("predict", of=self.name, allowed=allowed, got="true")

    def _check_kept(self, entries: int | None = None) -> None:
        """Raise where errors are kept that are known to grow: one level on one range for all entries."""
        if self._keeps_coarse_errors(entries):
            why = "with kept errors 1 diverges on one range for all"
            allowed = f"at least 2, or damping=true: {why}"
            raise InputError("q", of=self.name, allowed=allowed, got=1)

    def _keeps_coarse_errors(self, entries: int | None) -> bool:
        return any(
            _is_coarse(each, entries)
            for link in (self.downlink, self.uplink)
            if isinstance(link, ErrorFeedback | Tracked) and not link.compressor.damped
            if isinstance(link, ErrorFeedback)
            or link.compensate
            or self.server_model == "preserved"
            for each in link.compressor.quantizers
        )

    def cautions(self, entries: int) -> tuple[str, ...]:
        """What will become of a scheme that runs as the paper says, where that is known to be nothing good.

        >>> scheme("lfl").cautions(1000)
        ()
        """
        link, said = self.downlink, list[str]()
        if not self.guarded and self._keeps_coarse_errors(entries):
            said.append(
                f"{self.name} with q = 1 keeps errors that grow from round to round on one range for all "
                "entries: training will diverge; q >= 2, a shorter scale or damping=true keep them small"
            )
        if isinstance(link, Tracked) and link.compensate and self.server_model == "preserved":
            said.append(
                f"{self.name} compensates the broadcast's error on top of a preserved server model, which "
                "has it already: it counts twice, and training will not get far (Remark 1 of the paper)"
            )
        return tuple(said)

    def check_state(self, spec: str, *, of: str) -> None:
        """Raise if a state is another scheme's; those of older versions do not say whose they are."""
        if spec and self.spec and spec != self.spec:
            raise InputError("state", of=of, allowed=f"of the scheme {self.spec}", got=f"of {spec}")

    def check(self, tensors: Sequence[int], rounds: int | None = None) -> None:
        """Raise if models of tensors of these lengths cannot be sent as they are to be.

        rounds: how many there will be, if that is known
        """
        if self.guarded:
            self._check_kept(sum(tensors))
        for caution in self.cautions(sum(tensors)):
            warnings.warn(caution, Caution, stacklevel=2)
        self.downlink.check(tensors, rounds)
        self.uplink.check(tensors, rounds)
        if self.first is not None:
            self.first.check(tensors)


def _is_coarse(quantizer: Quantizer, entries: int | None) -> bool:
    """Whether it is the paper's with one level on one range for all entries."""
    plain = quantizer.inner if isinstance(quantizer, Rotated) else quantizer
    if not isinstance(plain, Stochastic) or plain.levels > 1:
        return False
    if isinstance(plain.scale, int):
        return entries is not None and plain.scale >= entries
    return plain.scale == "model"


def _quantizers(link: Link) -> tuple[Quantizer, ...]:
    return link.compressor.quantizers if isinstance(link, Direct | ErrorFeedback | Tracked) else ()


def scheme(spec: str) -> Scheme:
    """The scheme that `name:key=value,...` describes.

    >>> scheme("lfl:q1=2,q2=2").server_model
    'estimate'
    """
    made = _registry.build(spec)
    if not isinstance(made, Scheme):  # pyright: ignore[reportUnnecessaryIsInstance]
        got = type(made).__name__
        raise InputError("result", of=spec, allowed="a scheme (lossyfl.Scheme)", got=got)
    return replace(made, spec=_registry.canonical(spec))


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
    damping: bool = False,
    server_model: ServerModel = "preserved",
    server_optimizer: str = "none",
    server_lr: float | None = None,
) -> Scheme:
    """Lossless broadcast: the model exact, updates quantized with error compensation."""
    if q2 == "exact":
        raise InputError(
            "q2", of="lb", allowed="levels (with an exact uplink it is lossless)", got=q2
        )
    return Scheme(
        name="lb",
        downlink=Lossless(),
        uplink=ErrorFeedback(compressor=_kept(levels(q2, scale), damping)),
        server_model=server_model,
        optimizer=optimizer(server_optimizer, server_lr),
        guarded=False,
    )


@_registry.register("lfl")
def lfl(
    *,
    q1: Levels = 2,
    q2: Levels = 2,
    scale: Scale = "model",
    damping: bool = False,
    first_budget: str | None = None,
    server_model: ServerModel = "estimate",
    compensate_server: bool = False,
    membership: Membership = "catch-up",
    server_optimizer: str = "none",
    server_lr: float | None = None,
) -> Scheme:
    """Lossy federated learning, Algorithm 1: the change of the model quantized, and the updates.

    first_budget: for the initial model, which is exact floats without one
    """
    plain = levels(q1, scale)
    preserved = server_model == "preserved" and not compensate_server
    down: Compressor = plain
    if preserved:
        down = _guarded(plain, damping)
    elif compensate_server:
        down = _kept(plain, damping)
    return Scheme(
        name="lfl",
        downlink=Tracked(compressor=down, compensate=compensate_server),
        uplink=_uplink(q2, scale, damping),
        server_model=server_model,
        optimizer=optimizer(server_optimizer, server_lr),
        guarded=preserved,
        first=_first(first_budget, scale),
        membership=membership,
    )


@_registry.register("lgm")
def lgm(
    *,
    q1: Levels = 2,
    q2: Levels = 2,
    scale: Scale = "model",
    damping: bool = False,
    server_model: ServerModel = "preserved",
    compensate_server: bool = True,
    server_optimizer: str = "none",
    server_lr: float | None = None,
) -> Scheme:
    """Lossy global model: the model itself quantized, its error kept (Tang et al., 2019)."""
    plain = levels(q1, scale)
    keeps = ErrorFeedback(compressor=_kept(plain, damping))
    return Scheme(
        name="lgm",
        downlink=keeps if compensate_server else Direct(compressor=plain),
        uplink=_uplink(q2, scale, damping),
        server_model=server_model,
        optimizer=optimizer(server_optimizer, server_lr),
        guarded=False,
    )


@_registry.register("ltgm")
def ltgm(
    *,
    q1: Levels = 50,
    q2: Levels = 2,
    scale: Scale = "model",
    damping: bool = False,
    signs: Signs = "fresh",
    server_model: ServerModel = "preserved",
    server_optimizer: str = "none",
    server_lr: float | None = None,
) -> Scheme:
    """Lossy transformed global model: rotated, then quantized (Caldas et al., 2018).

    signs: random ones before the Walsh-Hadamard transform, "fresh" every round, "fixed", or "none"
    """
    plain = levels(q1, scale)
    rotated = tuple(Rotated(inner=inner, signs=signs) for inner in plain.quantizers)
    return Scheme(
        name="ltgm",
        downlink=Direct(compressor=Schedule(plain.rounds, rotated)),
        uplink=_uplink(q2, scale, damping),
        server_model=server_model,
        optimizer=optimizer(server_optimizer, server_lr),
        guarded=False,
    )


@_registry.register("lean")
def lean(
    *,
    down: str = "deadzone",
    up: str = "deadzone",
    down_budget: str | None = None,
    up_budget: str | None = None,
    first_budget: str | None = None,
    predict: bool = False,
    damping: bool = True,
    server_model: ServerModel = "preserved",
    server_optimizer: str = "none",
    server_lr: float | None = None,
) -> Scheme:
    """Any quantizer both ways, within a budget of bytes if one is given; the initial model by a dead zone.

    predict: whether a broadcast goes on from how the model moved before (`lossyfl.links.tracked`)
    """
    downlink = _compressor(
        down, down_budget, "the downlink", first=1
    )  # round 0 has the initial model
    if server_model == "preserved":
        downlink = _guarded(downlink, damping)
    return Scheme(
        name="lean",
        downlink=Tracked(compressor=downlink, predict=predict),
        uplink=ErrorFeedback(
            compressor=_guarded(_compressor(up, up_budget, "the uplink"), damping)
        ),
        server_model=server_model,
        optimizer=optimizer(server_optimizer, server_lr),
        first=_first(first_budget),
    )


def _first(limit: str | None, scale: Scale = "model") -> Compressor | None:
    """What makes the frame of the initial model; nothing for exact floats."""
    if limit is None:
        return None
    return budgeted_once(limit, Deadzone(scale=scale), of="the initial model")


def _compressor(spec: str, limit: str | None, of: str, first: int = 0) -> Compressor:
    """A quantizer, within a budget if there is one, from the first round with a frame on."""
    chosen = quantizer(str(spec))
    if limit is None:
        return Schedule.constant(chosen)
    return budgeted(limit, chosen, of=of, first=first)


def _uplink(q2: Levels, scale: Scale, damping: bool) -> Link:
    """Updates quantized with error compensation, or exact."""
    if q2 == "exact":
        return Lossless()
    return ErrorFeedback(compressor=_kept(levels(q2, scale), damping))


def _kept(compressor: Schedule, damping: bool) -> Compressor:
    """The compressor of a link of the paper's that keeps errors: as it is, or damped."""
    return _guarded(compressor, damping) if damping is not False else compressor


def _guarded(compressor: Compressor, damping: bool) -> Compressor:
    """The compressor of a link of ours that keeps errors: damped, or refused where they would grow."""
    if not isinstance(damping, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError("damping", of="scheme", allowed="true or false", got=damping)
    return Damped(inner=compressor) if damping else VarianceGuard(inner=compressor)


def levels(q: Levels, scale: Scale) -> Schedule:
    """The paper's quantizer with q levels, or with levels that change with the round.

    >>> levels("8@0/2@50", "model").at(60)
    Stochastic(levels=2, scale='model')
    """
    if isinstance(q, int):
        return Schedule.constant(Stochastic(levels=q, scale=scale))
    allowed = 'a number, or levels and the rounds they begin, as "8@0/4@50"'
    wrong = InputError("q", of="scheme", allowed=allowed, got=q)
    steps = parse_steps(str(q), int, wrong=wrong)
    return Schedule(steps.rounds, tuple(Stochastic(levels=n, scale=scale) for n in steps.values))
