"""The sender's whole vector in every round, by a link that needs no history to be heard.

The downlinks of LB, LGM and LTGM: the model travels as it is, with error feedback, or quantized, and both
ends hold what arrived. A device that has missed rounds needs no more than the newest frame.
"""

from dataclasses import dataclass
from typing import Any

from lossyfl.compressors.base import Compressor, SendContext
from lossyfl.links.base import AbstractDownlink, Link, Sent
from lossyfl.types import Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeState:
    """The estimate that both ends hold, and the state of the link that carries the vector."""

    estimate: Vector
    carrier: object


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeModel(AbstractDownlink[WholeState]):
    """Sends x by its carrier; the estimate is what that carried."""

    carrier: Link[Any]

    incremental = False

    @property
    def compressor(self) -> Compressor | None:
        """What makes the carrier's frames."""
        return self.carrier.compressor

    @property
    def keeps_error(self) -> bool:
        """Whether the carrier sends later what quantizing lost."""
        return self.carrier.keeps_error

    @property
    def forgets_error(self) -> bool:
        """Whether what the carrier's quantizing lost is gone."""
        return self.carrier.forgets_error

    def init(self, start: Vector) -> WholeState:
        """Both ends hold `start`."""
        return WholeState(estimate=start.copy(), carrier=self.carrier.init(start))

    def send(self, x: Vector, state: WholeState, context: SendContext) -> Sent[WholeState]:
        """What the carrier sends; the sender holds what it says, too."""
        sent = self.carrier.send(x, state.carrier, context)
        estimate = sent.heard
        if estimate is None:
            estimate, _ = self.carrier.receive(sent.frame, state.carrier)
        after = WholeState(estimate=estimate, carrier=sent.state)
        return Sent(frame=sent.frame, state=after, source=sent.source, lost=sent.lost)

    def receive(self, frame: bytes, state: WholeState) -> tuple[Vector, WholeState]:
        """What the carrier received is the estimate."""
        estimate, carrier = self.carrier.receive(frame, state.carrier)
        return estimate, WholeState(estimate=estimate, carrier=carrier)

    def undo(self, frame: bytes, state: WholeState) -> WholeState:
        """As the carrier does; the estimate stays, until the next frame replaces it."""
        carrier = self.carrier.undo(frame, state.carrier)
        return WholeState(estimate=state.estimate, carrier=carrier)
