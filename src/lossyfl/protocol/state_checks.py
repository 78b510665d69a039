"""Whether a saved state can be one: a file may say anything, and what is restored is trusted from then on.

Vectors are finite and as long as the model; rounds, numbers, weights and digests are within what a frame can
name; and what is noted of an open round is of those that take part in it.
"""

import math
from collections.abc import Iterable

from lossyfl.errors import InputError
from lossyfl.protocol.optimizers import Moments
from lossyfl.protocol.rules import FINITE, is_within
from lossyfl.protocol.states import MAX_SAMPLES, ROUNDS, UNKNOWN, DeviceState, ServerState
from lossyfl.types import Vector

DIGESTS = 1 << 64
NUMBERS = 1 << 63
"""Beyond all numbers of devices."""


def check_server(state: ServerState, moments: Moments) -> None:
    """Raise unless a server could have been in this state.

    moments: as long as its optimizer needs them
    """
    saved, size = state.moments, len(state.theta)
    others = (state.estimate, *state.link.values(), state.total)
    if not (is_within(state.theta) and _are_finite(*others, saved.first, saved.second)):
        raise InputError("state", of="Server", allowed="of finite floats", got="another")
    if not (
        _are_flat(state.theta, *others, saved.first, saved.second)
        and len(state.estimate) == len(state.total) == size
        and (len(saved.first), len(saved.second)) == (len(moments.first), len(moments.second))
    ):
        raise InputError("state", of="Server", allowed="of vectors of one length", got="another")
    for name, fits in _facts(state):
        if not fits:
            allowed = "one that a server can have"
            raise InputError(f"{name} of a state", of="Server", allowed=allowed, got="another")


def check_device(state: DeviceState, *, of: str) -> None:
    """Raise unless a device could have been in this state."""
    vectors = (state.estimate, *state.downlink.values(), *state.uplink.values())
    if not (_are_flat(*vectors) and _are_finite(*vectors)):
        raise InputError("state", of=of, allowed="of finite floats", got="another")
    rounds = (state.round, state.replied, state.accepted, state.told)
    if not (state.round >= -1 and _within(rounds, UNKNOWN, ROUNDS)):
        raise InputError("state", of=of, allowed=f"of rounds in [-1, {ROUNDS})", got="another")


def is_sound(moments: Moments) -> bool:
    """Whether an optimizer's moments are finite."""
    return _are_finite(moments.first, moments.second)


def _facts(state: ServerState) -> tuple[tuple[str, bool], ...]:
    """All that is not a vector, by name, and whether it can be so."""
    held, log, norms = state.held.values(), state.log, state.norms
    rounds = (*state.accepted.values(), *state.before.values(), *(each.round for each in held))
    digests = (each.digest for each in (*held, *log))
    numbers = (*state.samples, *state.held, *state.accepted, *state.listened)
    usual = (
        norms.reference,
        *norms.now.values(),
        *(norm for each in norms.recent for norm in each),
    )
    return (
        ("round", _within([state.round], -1, ROUNDS)),
        ("rounds", _within(rounds, -1, ROUNDS) and _within((b.round for b in log), 0, ROUNDS)),
        ("digests", _within(digests, 0, DIGESTS)),
        ("numbers of devices", _within(numbers, 0, NUMBERS)),
        ("samples", _within(state.samples.values(), 1, MAX_SAMPLES + 1)),
        ("norms", all(0 <= norm < math.inf for norm in usual)),
        ("counts of refusals", all(each.count >= 0 for each in state.refused)),
        ("participants", _is_seated(state)),
        ("replies", not state.is_open or _is_collected(state)),
    )


def _is_seated(state: ServerState) -> bool:
    """Whether those who take part are devices, in order, with their weights."""
    numbers = list(state.participants)
    return (
        numbers == sorted(numbers)
        and _within(numbers, 0, NUMBERS)
        and _within(state.participants.values(), 1, MAX_SAMPLES + 1)
    )


def _is_collected(state: ServerState) -> bool:
    """Whether the replies of an open round are those of participants, and no more than there are."""
    return (
        state.round >= 0
        and 0 <= state.turn <= len(state.participants)
        and 0 <= state.weight <= sum(state.participants.values())
        and state.answered.keys() <= state.participants.keys()
        and state.waiting.keys() <= state.answered.keys()
        and state.before.keys() <= state.answered.keys()
    )


def _within(numbers: Iterable[int], low: int, high: int) -> bool:
    return all(low <= number < high for number in numbers)


def _are_finite(*vectors: Vector) -> bool:
    return all(is_within(vector, FINITE) for vector in vectors)


def _are_flat(*vectors: Vector) -> bool:
    """Whether they are vectors at all: a file may give them any shape."""
    return all(vector.ndim == 1 for vector in vectors)
