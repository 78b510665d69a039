"""What a link is: one direction of traffic, given what the other end already holds.

    send(x, state)         sender     -> frame, and the sender's next state
    receive(frame, state)  receiver   -> what the receiver now knows of x, and its next state

Both directions use the same interface, and state goes in and comes out: nothing is hidden. A sender
moves its own state by receiving its own frame, so there is one piece of code that moves it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from lossyfl.compressors.base import SendContext
from lossyfl.types import Vector


def nothing() -> Vector:
    """The vector of a state that a link does not need."""
    return np.zeros(0, dtype=np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkState:
    """What one end of a link remembers; empty vectors for what it does not need.

    estimate: what the receiver holds of the sender's vector, the same at both ends
    memory:   what the sender has not been able to send yet
    trend:    by how much the estimate is expected to move next, the same at both ends
    """

    estimate: Vector = field(default_factory=nothing)
    memory: Vector = field(default_factory=nothing)
    trend: Vector = field(default_factory=nothing)

    @property
    def lengths(self) -> tuple[int, int, int]:
        """The entries of the estimate, the memory and the trend."""
        return len(self.estimate), len(self.memory), len(self.trend)


class Link(Protocol):
    """One direction of traffic."""

    incremental: ClassVar[bool]
    """Whether a frame says only what changed, so that a receiver needs every one of them."""

    def init(self, start: Vector) -> LinkState:
        """The state of either end when both hold `start`."""
        ...

    def fits(self, state: LinkState, entries: int) -> bool:
        """Whether a state can be this link's, for vectors of so many entries."""
        ...

    def check(self, tensors: Sequence[int], rounds: int | None = None) -> None:
        """Raise if vectors of tensors of these lengths cannot be sent in so many rounds."""
        ...

    def send(self, x: Vector, state: LinkState, context: SendContext) -> tuple[bytes, LinkState]:
        """The frame of `x` and the sender's next state."""
        ...

    def quantized(self, x: Vector, state: LinkState, context: SendContext) -> Vector | None:
        """What the quantizer was given when `x` was sent with this address; None if there is none."""
        ...

    def receive(self, frame: bytes, state: LinkState) -> tuple[Vector, LinkState]:
        """What the frame says of the sender's `x`, and the receiver's next state."""
        ...
