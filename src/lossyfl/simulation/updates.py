"""Vectors as links were given them, kept for those who study quantizers.

    updates/99-down.npy    what the broadcast of round 99 was to say: theta - theta_hat
    updates/99-up-0.npy    what the reply of device 0 was to say: theta_m - theta_hat + delta_m

What was sent and what stays behind add up to it: nothing is asked of the links. Downlinks that send the model
itself have no update.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lossyfl.codec import decode
from lossyfl.errors import InputError
from lossyfl.server import Server
from lossyfl.simulation.store import Slots, Store
from lossyfl.simulation.work import Answer
from lossyfl.types import Vector
from lossyfl.wire.frame import HARD_LIMIT

DEVICES = 3
"""How many replies of a round are kept: those of the first devices that answered in time."""


def rounds_of(text: object) -> frozenset[int]:
    """The rounds that a text names.

    >>> sorted(rounds_of("0,10"))
    [0, 10]
    """
    try:
        numbers = frozenset(int(part) for part in str(text).split(","))
    except ValueError:
        numbers = frozenset({-1})
    if min(numbers) < 0:
        allowed = "numbers of rounds, as 0,50,99"
        raise InputError("save_updates", of="a run", allowed=allowed, got=text)
    return numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Updates:
    """Where the vectors of some rounds go."""

    folder: Path
    rounds: frozenset[int]

    def save(self, server: Server, answers: Sequence[Answer], store: Store, slots: Slots) -> None:
        """Write those of the open round, if they are wanted; all who answer have done so."""
        if server.round not in self.rounds:
            return
        self.folder.mkdir(exist_ok=True)
        if server.scheme.downlink.incremental and server.round > 0:
            self._write(server, "down", server.broadcast, server.theta - server.estimate)
        for answer in [answer for answer in answers if not answer.late][:DEVICES]:
            left = store.read(answer.device, int(slots[answer.device])).uplink.memory
            self._write(server, f"up-{answer.device}", answer.frame, left)

    def _write(self, server: Server, name: str, frame: bytes, left: Vector) -> None:
        sent = decode(frame, max_entries=HARD_LIMIT)
        np.save(self.folder / f"{server.round}-{name}.npy", sent + left if len(left) else sent)
