"""Flower's privacy beside frames: what its noise asks of updates, and what cannot be had together.

Flower adds noise for updates of a norm of at most C (`DifferentialPrivacy...` around a strategy). Where the
server clips, it does so after decoding, and nothing is left to do. Where nodes clip, quantizing and kept
errors come after that: so C travels with the model, the device bounds what its frame decodes to, and the
server clips what comes in longer all the same. docs/privacy.md says what follows.
"""

import math

from flwr.app import RecordDict
from flwr.common.secure_aggregation.secaggplus_constants import RECORD_KEY_CONFIGS
from flwr.serverapp.strategy import (
    DifferentialPrivacyClientSideAdaptiveClipping,
    DifferentialPrivacyClientSideFixedClipping,
    DifferentialPrivacyServerSideAdaptiveClipping,
    DifferentialPrivacyServerSideFixedClipping,
    Strategy,
)
from flwr.supercore.differential_privacy import KEY_CLIPPING_NORM

from lossyfl.adapters.arrays import kind_of
from lossyfl.adapters.layout import Layout
from lossyfl.errors import InputError
from lossyfl.flower.weights import Weights
from lossyfl.protocol.rules import ReplyRule
from lossyfl.protocol.server import DEFAULT_RULE

CLIENT_SIDE = (
    DifferentialPrivacyClientSideFixedClipping,
    DifferentialPrivacyClientSideAdaptiveClipping,
)
SERVER_SIDE = (
    DifferentialPrivacyServerSideFixedClipping,
    DifferentialPrivacyServerSideAdaptiveClipping,
)
SECURE_AGGREGATION = (
    "secure aggregation (SecAgg, SecAgg+) cannot be had with lossyfl: it adds up masked whole numbers of one "
    "fixed width, and a frame is coded by what is in it; take secaggplus_mod or secagg_mod out of the "
    "ClientApp, or lossy_mod and LossyStrategy"
)


def wrapper_in(inner: Strategy) -> Strategy | None:
    """The wrapper for differential privacy that a strategy is, or has inside; None for none."""
    if isinstance(inner, CLIENT_SIDE + SERVER_SIDE):
        return inner
    inside = getattr(inner, "strategy", None)  # as wrappers of Flower's have it
    return wrapper_in(inside) if isinstance(inside, Strategy) else None


def usual(inner: Strategy) -> tuple[Weights, ReplyRule]:
    """How replies count, and the rule for them, if nobody says so: noise is made for equal ones."""
    if wrapper_in(inner) is not None:
        return "equal", ReplyRule(norm="off")
    return "capped", DEFAULT_RULE


def clipping_norm(inner: Strategy) -> float:
    """The norm to which nodes are to clip their updates now; infinity if they are not."""
    found = wrapper_in(inner)
    return float(found.clipping_norm) if isinstance(found, CLIENT_SIDE) else math.inf


def has_clipping_norm(content: RecordDict) -> bool:
    """Whether a message tells nodes to clip by Flower's name for that."""
    return any(KEY_CLIPPING_NORM in record for record in content.config_records.values())


def unbounded(inner: Strategy) -> str:
    """What it means if a strategy sends such a norm that is none of Flower's wrappers."""
    return (
        f"updates are not bounded by the {KEY_CLIPPING_NORM} that {type(inner).__name__} sends: only "
        "Flower's own wrappers are known to mean it so, and quantizing may make clipped updates longer; "
        "derive from one of them, or clip at the server"
    )


def is_secure_aggregation(error: str) -> bool:
    """Whether a node failed because it waits for secure aggregation."""
    return RECORD_KEY_CONFIGS in error


def check_accountant(inner: Strategy, *, saves: bool) -> None:
    """Raise if what was spent would be forgotten by a training that goes on from a checkpoint."""
    if saves and getattr(wrapper_in(inner), "accountant", None) is not None:
        allowed = "left out with an accountant: a checkpoint does not hold what it has counted"
        raise InputError("save_to", of="LossyStrategy", allowed=allowed, got="both")


def cautions(inner: Strategy, layout: Layout, weights: Weights, rule: ReplyRule) -> tuple[str, ...]:
    """What weakens the privacy that a wrapper inside promises; nothing without one."""
    found = wrapper_in(inner)
    if found is None:
        return ()
    name, said = type(found).__name__, list[str]()
    if weights != "equal":
        said.append(f'the noise of {name} is for replies that count the same: weights="equal"')
    if rule.norm in ("clip", "refuse"):
        said.append(
            f"with {name} a reply must not be judged by the norms of others, of which it would tell: "
            'ReplyRule(norm="off")'
        )
    whole = [slot.name for slot in layout.slots if kind_of(slot.dtype) not in "fc"]
    if whole:
        said.append(
            f"{name} neither clips nor hides whole numbers: leave {whole[0]} out of the model, "
            "or what nodes return"
        )
    single = [slot.name for slot in layout.floats if not slot.shape]
    if single and isinstance(
        found, SERVER_SIDE
    ):  # where nodes clip, their devices bound the whole vector
        said.append(f"{name} does not clip arrays without axes: give {single[0]} the shape (1,)")
    return tuple(said)
