"""A server for a framework's adapter: where the framework decides what a simulation or a test knows before.

    set_participants   who takes part is learned from the replies
    rename             a device is another one than it was taken for
    compare            all replies of a round are in hand before the first is taken
    accept_and_decode  the framework aggregates by itself,
    replace_theta      and hands the model back

Rounds, frames and refusals are those of `Server`.
"""

from collections.abc import Mapping

import numpy as np

from lossyfl.errors import InputError
from lossyfl.protocol.membership import renamed
from lossyfl.protocol.rules import LARGEST, is_within
from lossyfl.protocol.server import Server
from lossyfl.types import Vector
from lossyfl.wire.vectors import as_vector


class AdapterServer(Server):
    """A server that may learn late who takes part, and leave the aggregation to somebody else."""

    @property
    def aggregation_base(self) -> Vector:
        """What replies are added to: the estimate, or theta where the scheme preserves it."""
        return self._base

    def is_member(self, device: int) -> bool:
        """Whether a device has joined."""
        return device in self._members

    def rename(self, numbers: Mapping[int, int]) -> None:
        """Members have other numbers than they were taken for; what was noted of them goes along.

        All at once, so that two may have been taken for each other; in an open round before the first
        reply.
        """
        collected = self._aggregation.collected
        if self.is_open and collected.answered:
            allowed = "changed before the first reply of a round"
            raise InputError("number", of="a device", allowed=allowed, got="after it")
        self._members.rename(numbers)
        self._aggregation.set_participants(
            dict(sorted(renamed(collected.participants, numbers).items()))
        )
        self.ledger.rename(numbers)

    def set_participants(self, samples: Mapping[int, int]) -> None:
        """Say who takes part in the open round, and with how many samples, before the first reply.

        For those who learn it from the replies; others say it to `open_round`.
        """
        if not self.is_open or self._aggregation.collected.answered:
            allowed = "open and without a reply"
            got = "answered" if self.is_open else "closed"
            raise InputError(f"round {self.round}", of="Server", allowed=allowed, got=got)
        for device, count in samples.items():
            self.join(device, count)
        self._aggregation.set_participants(self._members.weights(samples))

    def compare(self, replies: Mapping[int, bytes]) -> None:
        """Compare the norms of all replies of a first round before the first is taken, if they are in hand.

        Then there is something to compare with, and `accept` and `accept_and_decode` refuse at once; in later
        rounds there is, and nothing is done.
        """
        self._aggregation.compare(replies)

    def accept_and_decode(self, device: int, reply: bytes) -> Vector:
        """Take a reply as `accept` does, but give it away: something else makes the next model of it.

        That model comes back by `replace_theta` once the round is closed.
        """
        return self._aggregation.accept_and_decode(device, reply)

    def replace_theta(self, theta: object) -> None:
        """Go on from another model, between rounds: for those who aggregate by themselves."""
        fresh = as_vector(theta).copy()
        if self.is_open:
            raise InputError("theta", of="Server", allowed="replaced between rounds", got="in one")
        if len(fresh) != len(self._theta) or not is_within(fresh):
            allowed = f"{len(self._theta)} finite entries within {LARGEST:.3g}"
            got = f"{len(fresh)}, of them {int(np.isfinite(fresh).sum())} finite"
            raise InputError("theta", of="Server", allowed=allowed, got=got)
        self._theta = fresh
