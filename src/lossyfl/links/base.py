"""What a link is: one direction of traffic, and the sole owner of what both ends remember about it.

    init(start)              the state of either end when both hold `start`
    send(x, state, context)  sender    -> Sent: the frame, the sender's next state, what was quantized
    receive(frame, state)    receiver  -> what the receiver now knows of x, and its next state
    undo(frame, state)       sender    -> its state when the frame turns out never to have arrived

State goes in and comes out, nothing is hidden. Each link has a state type of its own, a frozen dataclass of
vectors; whoever keeps, saves or restores one does so by `lossyfl.links.state` and reads no field but those
that have a meaning for all links:

    estimate  what the receiver holds of the sender's vector, the same at both ends: every downlink has it
    memory    the error that is kept: what the sender has not been able to send yet

An uplink is heard by a server that keeps nothing per device, so its frames decode to the vector by
themselves: the server adds them to its sum without calling `receive`. A downlink may say only what changed.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from lossyfl.compressors.base import Compressor, SendContext
from lossyfl.types import Vector

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent(Generic[S_co]):
    """What sending gave.

    frame:  what travels
    state:  the sender's next
    source: gives what was quantized, or the vector itself where it travels exactly: for who measures it,
            before the vectors that went in change
    lost:   what quantizing lost of it; None for nothing
    heard:  what the receiver will know of the vector, if that is at hand: `receive` says the same
    """

    frame: bytes
    state: S_co
    source: Callable[[], Vector]
    lost: Vector | None = None
    heard: Vector | None = None


class Link(Protocol[S]):
    """One direction of traffic."""

    @property
    def compressor(self) -> Compressor | None:
        """What makes its frames; None where vectors travel exactly."""
        ...

    @property
    def keeps_error(self) -> bool:
        """Whether it sends later what quantizing lost."""
        ...

    @property
    def forgets_error(self) -> bool:
        """Whether what quantizing lost is gone.

        A link may do neither: then the error stays in the difference between the sender's vector and the
        estimate, as long as the sender does not go on from the estimate.
        """
        ...

    @property
    def incremental(self) -> bool:
        """Whether a frame says only what changed, so that a receiver needs every one of them."""
        ...

    def init(self, start: Vector) -> S:
        """The state of either end when both hold `start`: every vector in it is as long."""
        ...

    def send(self, x: Vector, state: S, context: SendContext) -> Sent[S]:
        """The frame of `x`, the sender's next state, and what was quantized."""
        ...

    def receive(self, frame: bytes, state: S) -> tuple[Vector, S]:
        """What the frame says of the sender's `x`, and the receiver's next state."""
        ...

    def undo(self, frame: bytes, state: S) -> S:
        """The sender's state after its frame turned out never to have arrived."""
        ...


class HasEstimate(Protocol):
    """The state of a downlink."""

    @property
    def estimate(self) -> Vector:
        """theta_hat: what the receivers hold."""
        ...


class Downlink(Link[S], Protocol[S]):
    """A link from the server to all devices; its state is a `HasEstimate`."""

    @property
    def selects(self) -> bool:
        """Whether it sends the best of several frames: their mean is not x, whatever the quantizer."""
        ...

    @property
    def mergeable(self) -> bool:
        """Whether a frame may be the sum of several updates: it moves the estimate, and nothing else."""
        ...

    def trend(self, state: S) -> Vector:
        """What a device that joins must hold besides the estimate; empty for nothing."""
        ...

    def join(self, estimate: Vector, trend: Vector) -> S:
        """The state of a device that joins with an estimate and a trend."""
        ...


class AbstractDownlink(ABC, Generic[S]):
    """A downlink of which those who join need the estimate and nothing besides."""

    __slots__ = ()

    @property
    def selects(self) -> bool:
        """It makes one frame."""
        return False

    @property
    def mergeable(self) -> bool:
        """Sums may be rounded, or others than moves of the estimate."""
        return False

    @abstractmethod
    def init(self, start: Vector) -> S:
        """The state of either end."""

    def trend(self, state: S) -> Vector:
        """Nothing besides the estimate."""
        del state
        return nothing()

    def join(self, estimate: Vector, trend: Vector) -> S:
        """As at the beginning."""
        del trend
        return self.init(estimate)


class Incremental(Generic[S]):
    """What links have in common whose frames say only what changed."""

    __slots__ = ()

    incremental = True

    def undo(self, frame: bytes, state: S) -> S:
        """Nothing: all later frames build on this one, so whoever missed it is sent it again."""
        del frame
        return state


def nothing() -> Vector:
    """A vector of no entries."""
    return np.zeros(0, dtype=np.float32)
