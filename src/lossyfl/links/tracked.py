"""The change against what the receivers hold: LFL's broadcast, Algorithm 1, lines 2 and 3.

    frame = Q(x - estimate, q1)        estimate' = estimate + Q(x - estimate, q1)

Sender and receivers keep the same estimate to the bit, because both move it by the same frame with
one float32 addition an entry. `compensate` adds the error of earlier rounds before quantizing, which
Remark 1 of the paper found to hurt:

    frame = Q(x - estimate + memory)   memory' = x - estimate + memory - Q(...)
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lossyfl.codec import decode
from lossyfl.links.base import LinkState, Message, nothing
from lossyfl.links.policy import Policy
from lossyfl.types import Vector
from lossyfl.wire.frame import HARD_LIMIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracked:
    """Sends Q(x - estimate)."""

    quantizer: Policy
    compensate: bool = False

    incremental: ClassVar[bool] = True

    def init(self, start: Vector) -> LinkState:
        """Both ends hold `start`."""
        memory = np.zeros_like(start) if self.compensate else nothing()
        return LinkState(estimate=start.copy(), memory=memory)

    def fits(self, state: LinkState, entries: int) -> bool:
        """Whether its vectors have the lengths that they need."""
        return state.lengths == (entries, entries if self.compensate else 0)

    def check(self, entries: int, tensors: int = 1) -> None:
        """Raise if vectors of so many entries cannot be sent."""
        self.quantizer.check(entries, tensors)

    def send(self, x: Vector, state: LinkState, message: Message) -> tuple[bytes, LinkState]:
        """Q(x - estimate); the sender's estimate moves as the receivers' will."""
        change = self.quantized(x, state, message)
        _, frame = self.quantizer.make(change, message)
        estimate, _ = self.receive(frame, state)
        memory = change - decode(frame, max_entries=HARD_LIMIT) if self.compensate else state.memory
        return frame, LinkState(estimate=estimate, memory=memory)

    def quantized(self, x: Vector, state: LinkState, message: Message) -> Vector:
        """The change, with what earlier frames left over if that is kept."""
        del message
        change = x - state.estimate
        return change + state.memory if self.compensate else change

    def receive(self, frame: bytes, state: LinkState) -> tuple[Vector, LinkState]:
        """The estimate, moved by the frame."""
        estimate = state.estimate + decode(frame, max_entries=HARD_LIMIT)
        return estimate, LinkState(estimate=estimate, memory=state.memory)
