"""What the server hands to a device, and what both remember: plain data, to be saved as it is."""

from dataclasses import dataclass, field, replace

from lossyfl.errors import InputError
from lossyfl.links.base import nothing
from lossyfl.links.state import Arrays
from lossyfl.protocol.digests import EstimateVersion
from lossyfl.protocol.entries import Entry
from lossyfl.protocol.ledger import Refusal, Summary
from lossyfl.protocol.optimizers import Moments
from lossyfl.protocol.rules import Norms
from lossyfl.types import Vector

UNKNOWN = -2
"""Instead of the round of the last accepted reply."""
ROUNDS = 1 << 32
"""Beyond all rounds: frames count them in 32 bits."""
MAX_SAMPLES = 1 << 53
"""Of one device: sums of weights are exact floats then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What the server hands to one device: frames to apply in order.

    accepted: the last round of which the server has the device's reply, or has refused it for what it
              says; -1 for none; the device keeps an update that never arrived (see `device`); UNKNOWN if
              the server cannot tell, because it does not know yet which device it talks to
    """

    frames: tuple[bytes, ...]
    accepted: int

    def __post_init__(self) -> None:
        # It is noted in the device's state, which another number would make unreadable.
        if type(self.accepted) is not int or not UNKNOWN <= self.accepted < ROUNDS:
            allowed = f"a round in [0, {ROUNDS}), -1 for none or UNKNOWN"
            raise InputError("accepted", of="a delivery", allowed=allowed, got=self.accepted)

    @property
    def nbytes(self) -> int:
        """The bytes of all frames."""
        return sum(len(frame) for frame in self.frames)


@dataclass(frozen=True, slots=True, kw_only=True)
class Broadcast:
    """A broadcast frame, the round whose estimate it makes, and the digest it applies to."""

    round: int
    digest: int
    frame: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalCount:
    """How often replies were refused for a reason."""

    reason: str
    count: int


@dataclass(slots=True, kw_only=True)
class ServerState:
    """Everything that a server remembers; saved and restored to the bit.

    round:        of the estimate; -1 before the first
    is_open:      whether replies of that round are taken
    theta:        the server's model
    estimate:     theta_hat, what devices in sync hold
    link:         what the downlink remembers besides, by name
    moments:      the optimizer's
    samples:      B_m of every member
    held:         what each device was last handed
    accepted:     the last round of which each device's reply was accepted, or refused for what it says
    broadcast:    the newest broadcast frame, empty before the first
    log:          recent broadcasts of an incremental link, oldest first
    participants: of the open round, in order, with their B_m
    answered:     those of them whose reply was accepted, also if they have left since
    turn:         how many of them have been added, or passed over at the end
    waiting:      replies whose turn has not come, encoded
    total:        sum of B_m times reply, so far
    weight:       sum of B_m, so far
    entries:      of the ledger, of recent rounds
    eps:          of the ledger
    before:       of those who answered in the open round, the round that was accepted before
    norms:        of replies, now and before
    refusals:     the latest of the ledger
    refused:      how many there were, by reason
    scheme:       its spec; empty in states of older versions
    summary:      of the ledger: the sums of rounds before
    listened:     who heard the newest broadcast, where the scheme asks
    """

    round: int
    is_open: bool
    theta: Vector
    estimate: Vector
    link: Arrays
    moments: Moments
    samples: dict[int, int]
    held: dict[int, EstimateVersion]
    accepted: dict[int, int]
    broadcast: bytes
    log: tuple[Broadcast, ...]
    participants: dict[int, int]
    answered: dict[int, bool]
    turn: int
    waiting: dict[int, bytes]
    total: Vector
    weight: int
    entries: tuple[Entry, ...] = ()
    eps: dict[int, float] = field(default_factory=dict[int, float])
    before: dict[int, int] = field(default_factory=dict[int, int])
    norms: Norms = field(default_factory=Norms)
    refusals: tuple[Refusal, ...] = ()
    refused: tuple[RefusalCount, ...] = ()
    scheme: str = ""
    summary: Summary = field(default_factory=Summary)
    listened: tuple[int, ...] = ()

    def copied(self) -> "ServerState":
        """The same state with its own dictionaries and sum: what a server changes in place."""
        return replace(
            self,
            samples=dict(self.samples),
            held=dict(self.held),
            accepted=dict(self.accepted),
            participants=dict(self.participants),
            answered=dict(self.answered),
            waiting=dict(self.waiting),
            total=self.total.copy(),
            before=dict(self.before),
            norms=self.norms.copied(),
        )


@dataclass(slots=True, kw_only=True)
class DeviceState:
    """Everything that a device remembers; saved and restored to the bit.

    round:    of the estimate; -1 for a new device
    estimate: theta_hat, empty for a new device
    downlink: what the receiver remembers besides, by name
    uplink:   what the sender remembers, by name: delta_m is its memory
    replied:  the round of the reply that is not settled, -1 for none
    reply:    that reply
    accepted: the last round of which the server said that it has the reply, -1 for none
    told:     what the last delivery said of that, whatever others said before
    scheme:   its spec; empty in states of older versions
    """

    round: int = -1
    estimate: Vector = field(default_factory=nothing)
    downlink: Arrays = field(default_factory=dict[str, Vector])
    uplink: Arrays = field(default_factory=dict[str, Vector])
    replied: int = -1
    reply: bytes = b""
    accepted: int = -1
    told: int = -1
    scheme: str = ""


def check_number(device: object) -> None:
    """Raise unless a device's number is an int that a stream can be addressed by."""
    if type(device) is not int or not 0 <= device < 1 << 63:
        raise InputError("number", of="a device", allowed="an int in [0, 2^63)", got=device)
