"""The change against what the receivers hold, with the error of earlier rounds added before quantizing.

    frame = Q(x - estimate + memory)   memory' = x - estimate + memory - Q(...)
    estimate' = estimate + Q(...)

Where the server goes on from the estimate, as in line 6 of Algorithm 1, that is the recursion of a server
that goes on from its own model: z = x + memory. Where it does so anyway, the error counts twice; this is
likely what Remark 1 of the paper found to hurt.
"""

from dataclasses import dataclass

import numpy as np

from lossyfl.compressors.base import Compressor, SendContext
from lossyfl.links.base import AbstractDownlink, Incremental, Sent
from lossyfl.links.tracked import moved, plain_update
from lossyfl.types import Vector
from lossyfl.wire.adding import terms_of


@dataclass(frozen=True, slots=True, kw_only=True)
class CompensatedState:
    """The estimate that both ends hold, and the sender's error; zeros at the receiver."""

    estimate: Vector
    memory: Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Compensated(Incremental[CompensatedState], AbstractDownlink[CompensatedState]):
    """Sends Q(x - estimate + memory) and remembers the error."""

    compressor: Compressor

    keeps_error = True
    forgets_error = False

    def init(self, start: Vector) -> CompensatedState:
        """Both ends hold `start`, and there is no error yet."""
        return CompensatedState(estimate=start.copy(), memory=np.zeros_like(start))

    def send(
        self, x: Vector, state: CompensatedState, context: SendContext
    ) -> Sent[CompensatedState]:
        """Q(x - estimate + memory); what it lost is remembered."""
        change = x - state.estimate + state.memory
        made, frame = self.compressor.make(change, context)
        memory = change.copy()
        terms_of(made).add_to(memory, -1)
        after = CompensatedState(estimate=moved(state.estimate, made), memory=memory)
        return Sent(frame=frame, state=after, source=lambda: change, lost=memory)

    def receive(self, frame: bytes, state: CompensatedState) -> tuple[Vector, CompensatedState]:
        """The estimate, moved by the frame."""
        estimate = state.estimate + plain_update(frame, len(state.estimate))
        return estimate, CompensatedState(estimate=estimate, memory=state.memory)
