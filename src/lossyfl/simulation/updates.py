"""Vectors that links quantized, kept for those who study quantizers.

    updates/99-down.npy    of the broadcast of round 99: theta - theta_hat, with what is kept besides,
                           without what is predicted
    updates/99-up-0.npy    of the reply of device 0: theta_m - theta_hat + delta_m

What was sent and what is left add up to it, to within a rounding: nothing is asked of the links. Downlinks
that send the model itself have no update.
"""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lossyfl.files import disk
from lossyfl.files.atomic import write_atomically
from lossyfl.protocol.server import Server
from lossyfl.simulation.store import DeviceStore, Slots
from lossyfl.simulation.work import DeviceResult
from lossyfl.types import Vector
from lossyfl.wire.codec import decode

DEVICES = 3
"""How many replies of a round are kept: those of the first devices that answered in time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Updates:
    """Where the vectors of some rounds go."""

    folder: Path
    rounds: frozenset[int]

    def save(
        self, server: Server, answers: Sequence[DeviceResult], store: DeviceStore, slots: Slots
    ) -> None:
        """Write those of the open round, if they are wanted; all who answer have done so."""
        if server.round not in self.rounds:
            return
        disk.mkdir(self.folder)
        disk.sync_folder(self.folder.parent)
        entries = len(server.theta)
        if server.scheme.downlink.incremental and server.round > 0:
            left = server.state().link.get("memory", server.theta - server.estimate)
            self._write(f"{server.round}-down", server.broadcast, left, entries)
        for answer in [answer for answer in answers if not answer.late][:DEVICES]:
            left = store.read(answer.device, int(slots[answer.device])).uplink.get("memory")
            self._write(f"{server.round}-up-{answer.device}", answer.frame, left, entries)

    def _write(self, name: str, frame: bytes, left: Vector | None, entries: int) -> None:
        sent = decode(frame, max_entries=entries)
        file = io.BytesIO()
        np.save(file, sent if left is None else sent + left)
        write_atomically(self.folder / f"{name}.npy", [file.getvalue()])


NO_UPDATES = Updates(folder=Path("updates"), rounds=frozenset())
"""For a run that keeps no updates."""
