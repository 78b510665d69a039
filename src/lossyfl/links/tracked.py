"""The change against what the receivers hold: LFL's broadcast, Algorithm 1, lines 2 and 3.

    frame = Q(x - estimate, q1)        estimate' = estimate + Q(x - estimate, q1)

Sender and receivers keep the same estimate to the bit, because both move it by the same frame with
one float32 addition an entry. `compensate` adds the error of earlier rounds before quantizing, which
Remark 1 of the paper found to hurt:

    frame = Q(x - estimate + memory)   memory' = x - estimate + memory - Q(...)

With `predict` both ends expect the model to go on as it went: its drift is the running average of how the
estimate moved. A frame names the part of the drift that leaves least to be said, and says the rest:

    frame = part, Q(x - estimate - part drift)    move = part drift + Q(...)
    estimate' = estimate + move                   drift' = drift + NEW (move - drift)

It costs one byte. The part is 0 where the past does not help: there is never more to be said than without,
and what is known of the convergence of Q(x - estimate) still holds. This is predictive coding (of uplinks:
Yue et al., "Communication-efficient federated learning via predictive coding", IEEE Journal of Selected
Topics in Signal Processing, 2022), here of broadcasts.
"""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from lossyfl.codec import decode
from lossyfl.errors import InputError
from lossyfl.links.base import LinkState, Message, nothing
from lossyfl.links.policy import Policy
from lossyfl.types import Vector
from lossyfl.wire.frame import HARD_LIMIT, WHOLE_DRIFT, read_header

NEW = 0.2
"""What the latest move counts in the drift: coarse frames are noisy, and five of them are less so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracked:
    """Sends Q(x - estimate), or what a prediction leaves of it."""

    quantizer: Policy
    compensate: bool = False
    predict: bool = False

    incremental: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.predict, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise InputError("predict", of="scheme", allowed="true or false", got=self.predict)
        if self.predict and self.compensate:
            allowed = "false where errors are compensated"
            raise InputError("predict", of="scheme", allowed=allowed, got=self.predict)

    def init(self, start: Vector) -> LinkState:
        """Both ends hold `start`."""
        memory = np.zeros_like(start) if self.compensate else nothing()
        drift = np.zeros_like(start) if self.predict else nothing()
        return LinkState(estimate=start.copy(), memory=memory, drift=drift)

    def fits(self, state: LinkState, entries: int) -> bool:
        """Whether its vectors have the lengths that they need."""
        memory, drift = entries * self.compensate, entries * self.predict
        return state.lengths == (entries, memory, drift)

    def check(self, entries: int, tensors: int = 1) -> None:
        """Raise if vectors of so many entries cannot be sent."""
        self.quantizer.check(entries, tensors)

    def send(self, x: Vector, state: LinkState, message: Message) -> tuple[bytes, LinkState]:
        """Q(x - estimate); the sender's estimate moves as the receivers' will."""
        part, change = self._split(x, state)
        address = replace(message.address, drift=part)
        _, frame = self.quantizer.make(change, replace(message, address=address))
        _, after = self.receive(frame, state)
        if self.compensate:
            after = replace(after, memory=change - decode(frame, max_entries=HARD_LIMIT))
        return frame, after

    def quantized(self, x: Vector, state: LinkState, message: Message) -> Vector:
        """The change, without what is expected, with what earlier frames left over if that is kept."""
        del message
        return self._split(x, state)[1]

    def _split(self, x: Vector, state: LinkState) -> tuple[int, Vector]:
        """The part of the drift that leaves least to be said, and what it leaves."""
        change = x - state.estimate
        if self.compensate:
            return 0, change + state.memory
        if not self.predict:
            return 0, change
        energy = _product(state.drift, state.drift)
        best = _product(state.drift, change) / energy if energy else 0.0
        part = int(np.clip(round(WHOLE_DRIFT * best), 0, 255))
        return part, change - np.float32(part / WHOLE_DRIFT) * state.drift

    def receive(self, frame: bytes, state: LinkState) -> tuple[Vector, LinkState]:
        """The estimate, moved by the frame."""
        move = decode(frame, max_entries=HARD_LIMIT)
        if not self.predict:
            estimate = state.estimate + move
            return estimate, replace(state, estimate=estimate)
        part = read_header(frame, HARD_LIMIT).address.drift
        move = np.float32(part / WHOLE_DRIFT) * state.drift + move
        estimate = state.estimate + move
        drift = state.drift + np.float32(NEW) * (move - state.drift)
        return estimate, replace(state, estimate=estimate, drift=drift)


def _product(a: Vector, b: Vector) -> float:
    """<a, b> in float64, the same for any number of threads."""
    return float(np.einsum("i,i->", a, b, dtype=np.float64))
