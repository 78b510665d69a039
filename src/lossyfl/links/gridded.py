"""The change against what the receivers hold, on a grid: many of its frames can be merged into one, exactly.

    frame = Q(x - estimate), values multiples of a power of two        estimate' = estimate + Q(x - estimate)

It begins with an estimate on a grid, too. As long as no entry is beyond 2^24 steps, no addition rounds, and
the estimates of two rounds differ by the sum of what lies between them (`lossyfl.wire.grid`). An entry that
grows beyond is rounded by the addition itself, the same at both ends: it leaves the finer grid for one that
float32 can hold. That happens to an estimate that has become 16 times as large as it was, and nobody has to
say so; frames across it are not merged, because a sum that does not lead to the same digest is not sent.
"""

from dataclasses import dataclass

from lossyfl.compressors.base import Compressor, SendContext, packed
from lossyfl.compressors.snapped import FINEST, power_above, snapped
from lossyfl.links.base import AbstractDownlink, Incremental, Sent
from lossyfl.links.tracked import TrackedState, moved, plain_update
from lossyfl.types import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Gridded(Incremental[TrackedState], AbstractDownlink[TrackedState]):
    """Sends Q(x - estimate) with values on a grid."""

    compressor: Compressor

    keeps_error = False
    forgets_error = False

    @property
    def mergeable(self) -> bool:
        """Sums of its frames are exact, or found not to be."""
        return True

    def init(self, start: Vector) -> TrackedState:
        """Both ends hold `start`."""
        return TrackedState(estimate=start.copy())

    def send(self, x: Vector, state: TrackedState, context: SendContext) -> Sent[TrackedState]:
        """Q(x - estimate); the sender's estimate moves as the receivers' will."""
        change = x - state.estimate
        made, _ = self.compressor.make(change, context)
        there = snapped(made, FINEST * power_above(state.estimate))
        frame = packed(there, context)
        after = TrackedState(estimate=moved(state.estimate, there))
        lost = x - after.estimate
        return Sent(frame=frame, state=after, source=lambda: change, lost=lost)

    def receive(self, frame: bytes, state: TrackedState) -> tuple[Vector, TrackedState]:
        """The estimate, moved by one frame, merged or not."""
        estimate = state.estimate + plain_update(frame, len(state.estimate))
        return estimate, TrackedState(estimate=estimate)
