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
"preserved". q1 and q2 are numbers, or change with the round: "8@0/4@50" is 8, and 4 from round 50 on; or a
rule chooses them for every frame: "eps(variance=1)" (`lossyfl.compressors.adaptive`), but not ltgm's q1.
q2=exact sends updates as they are, as Theorem 1 assumes.
lean's C is any quantizer, within a budget of bytes if one is given. Its server keeps what devices have not
heard yet, as in EF21-P (Gruntkowska et al., ICML 2023) and MCM (Philippenko and Dieuleveut, NeurIPS 2021),
so that biased quantizers, which are far better at low rates, may be used.

What would diverge is refused in ours, and said before the first round in the paper's: see `Scheme`.
"""

from dataclasses import replace

from lossyfl.compressors import Compressor, Schedule
from lossyfl.compressors.levels import Levels, is_rule, leveled, levels
from lossyfl.errors import InputError
from lossyfl.links import Compensated, Direct, ErrorFeedback, Lossless, Predicted, WholeModel
from lossyfl.protocol.optimizers import optimizer
from lossyfl.protocol.options import Option, with_options
from lossyfl.protocol.parts import (
    check_grid,
    check_snaps,
    compressor,
    first,
    guarded,
    kept,
    tracked,
    uplink,
)
from lossyfl.protocol.scheme import MembershipRule, Scheme, ServerModel
from lossyfl.quantizers.dyadic import Dyadic
from lossyfl.quantizers.rotated import Rotated, Signs
from lossyfl.registry import Registry
from lossyfl.types import Scale

_registry: "Registry[Scheme]" = Registry(
    "scheme", makes="a scheme (lossyfl.Scheme)", methods=("cautions", "check", "check_state")
)


def scheme(spec: str, **options: Option) -> Scheme:
    """The scheme that `name:key=value,...` describes, or a name with options as Python has them.

    Numbers for budgets are bytes, and quantizers may be objects.

    >>> scheme("lfl:q1=2,q2=2").server_model
    'estimate'
    >>> from lossyfl import Stochastic
    >>> scheme("lean", down=Stochastic(levels=5), up_budget=5000).spec
    'lean:down=stochastic(levels=5),up_budget=5000B'
    """
    if options:
        spec = with_options(spec, _registry.options(spec), options)
    made = _registry.build(spec)
    if not isinstance(made, Scheme):  # pyright: ignore[reportUnnecessaryIsInstance]
        got = type(made).__name__
        raise InputError("result", of=spec, allowed="a scheme (lossyfl.Scheme)", got=got)
    return replace(made, spec=_registry.canonical(spec))


def names() -> list[str]:
    """The names of all schemes."""
    return _registry.names()


about = _registry.about


def options(spec: str) -> list[str]:
    """The names of all options that a scheme takes."""
    return _registry.takes(spec)


def parsed(spec: str) -> tuple[str, dict[str, str]]:
    """The name that a spec says, and its options as texts."""
    return _registry.parse(spec)


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
        downlink=WholeModel(carrier=Lossless()),
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
        downlink=WholeModel(carrier=Lossless()),
        uplink=ErrorFeedback(compressor=kept(leveled(q2, scale), damping)),
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
    membership: MembershipRule = "catch-up",
    grid: bool = False,
    server_optimizer: str = "none",
    server_lr: float | None = None,
) -> Scheme:
    """Lossy federated learning, Algorithm 1: the change of the model quantized, and the updates.

    first_budget: for the initial model, which is exact floats without one
    grid: whether levels are multiples of a power of two, so that updates which a device has missed are merged
    """
    check_grid(grid, "compensate_server", compensate_server)
    check_grid(grid, "membership", membership != "catch-up")
    check_grid(grid, "q1 by a rule", is_rule(q1))
    plain = levels(q1, scale, kind=Dyadic) if grid else leveled(q1, scale)
    preserved = server_model == "preserved" and not compensate_server
    down: Compressor = plain
    if preserved:
        down = guarded(plain, damping)
    elif compensate_server:
        down = kept(plain, damping)
    return Scheme(
        name="lfl",
        downlink=Compensated(compressor=down) if compensate_server else tracked(down, grid),
        uplink=uplink(q2, scale, damping),
        server_model=server_model,
        optimizer=optimizer(server_optimizer, server_lr),
        guarded=preserved,
        first=first(first_budget, "model" if grid else scale, grid),
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
    plain = leveled(q1, scale)
    keeps = ErrorFeedback(compressor=kept(plain, damping))
    carrier = keeps if compensate_server else Direct(compressor=plain)
    return Scheme(
        name="lgm",
        downlink=WholeModel(carrier=carrier),
        uplink=uplink(q2, scale, damping),
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
        downlink=WholeModel(carrier=Direct(compressor=Schedule(plain.rounds, rotated))),
        uplink=uplink(q2, scale, damping),
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
    grid: bool = False,
    damping: bool = True,
    server_model: ServerModel = "preserved",
    server_optimizer: str = "none",
    server_lr: float | None = None,
) -> Scheme:
    """Any quantizer both ways, within a budget of bytes if one is given; the initial model by a dead zone.

    predict: whether a broadcast goes on from how the model moved before (`lossyfl.links.predicted`)
    grid: whether values are multiples of a power of two, so that updates which a device has missed are merged
    """
    check_grid(grid, "predict", predict)
    if grid:
        check_snaps(down)
    if not isinstance(predict, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError("predict", of="scheme", allowed="true or false", got=predict)
    downlink = compressor(
        down, down_budget, "the downlink", first=1
    )  # round 0 has the initial model
    if server_model == "preserved":
        downlink = guarded(downlink, damping)
    return Scheme(
        name="lean",
        downlink=Predicted(compressor=downlink) if predict else tracked(downlink, grid),
        uplink=ErrorFeedback(compressor=guarded(compressor(up, up_budget, "the uplink"), damping)),
        server_model=server_model,
        optimizer=optimizer(server_optimizer, server_lr),
        first=first(first_budget, grid=grid),
    )
