"""Which node is which device, and what it is known to hold.

Flower names nodes by random numbers of 64 bits, anew after a restart without a key. Devices have small
numbers, which address their random streams and order the sum: a node says its own (its `partition-id`)
with its first reply; until then it goes by one made of its node id. What a node holds is known from
its replies only; silence and errors change nothing, since a device passes over frames that it had.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace

from lossyfl.digests import NOTHING, Held
from lossyfl.errors import Refused

STRANGER = 1 << 62
"""Numbers from here on are made of node ids."""


def made_of(node: int) -> int:
    """The number of a node that has not said its own."""
    return STRANGER | node & (STRANGER - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A node: the number of its device, and the last estimate that it said it holds.

    known: whether it has said its number
    """

    number: int
    held: Held = NOTHING
    known: bool = False


class Nodes:
    """All nodes that were ever written to."""

    def __init__(self) -> None:
        self._peers: dict[int, Peer] = {}
        self._owners: dict[int, int] = {}

    def __getitem__(self, node: int) -> Peer:
        return self._peers.get(node, Peer(number=made_of(node)))

    def heard(self, node: int, number: int, held: Held, *, online: Collection[int]) -> Peer:
        """Note what a node says of itself; raise Refused if another one that is online says the same."""
        owner = self._owners.get(number, node)
        if owner != node and owner in online:
            raise Refused(
                number,
                "doubled",
                f"nodes {owner} and {node} both say that they are device {number}: give each its own "
                "partition-id",
            )
        if owner != node:
            self._peers.pop(owner, None)
        self._owners[number] = node
        self._peers[node] = Peer(number=number, held=held, known=True)
        return self._peers[node]

    def forget(self, node: int) -> None:
        """The node is not where it said: send it everything next time."""
        if node in self._peers:
            self._peers[node] = replace(self._peers[node], held=NOTHING)
