"""Which node is which device, and what it is known to hold.

Flower names nodes by random numbers of 64 bits, anew after a restart without a key. Devices have small
numbers, which address their random streams and order the sum: a node says its own (its `partition-id`)
with its first reply; until then it goes by one made of its node id. What a node holds is known from
its replies only; silence and errors change nothing, since a device passes over frames that it had.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from lossyfl.errors import Refused
from lossyfl.protocol.digests import NOTHING, EstimateVersion

STRANGER = 1 << 62
"""Numbers from here on are made of node ids."""


def made_of(node: int) -> int:
    """The number of a node that has not said its own."""
    return STRANGER | node & (STRANGER - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A node that has said who it is, to be saved."""

    node: int
    number: int
    held: EstimateVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A node: the number of its device, and the last estimate that it said it holds.

    known: whether it has said its number
    """

    number: int
    held: EstimateVersion = NOTHING
    known: bool = False


class Nodes:
    """All nodes that were ever written to."""

    def __init__(self) -> None:
        self._peers: dict[int, Peer] = {}
        self._owners: dict[int, int] = {}
        self._answered: set[int] = set()
        self._before: set[int] = set()

    def __getitem__(self, node: int) -> Peer:
        return self._peers.get(node, Peer(number=made_of(node)))

    def known(self) -> tuple[Known, ...]:
        """All nodes that have said who they are."""
        return tuple(
            Known(node=node, number=peer.number, held=peer.held)
            for node, peer in self._peers.items()
        )

    def restore(self, known: Iterable[Known]) -> None:
        """Go on with what was known."""
        for own in known:
            self._peers[own.node] = Peer(number=own.number, held=own.held, known=True)
            self._owners[own.number] = own.node

    def next_round(self) -> None:
        """Those who answer from now on do so in another round."""
        self._before, self._answered = self._answered, set()

    def heard(
        self, node: int, number: int, held: EstimateVersion, *, online: Collection[int]
    ) -> Peer:
        """Note what a node says of itself; raise Refused if that is another's number.

        A number goes over to a new node once its old one is offline or has missed a round: a node that
        restarts without a key has a new id, and the old one seems to be online for a while.
        """
        if number >= STRANGER and number != made_of(node):
            raise Refused(made_of(node), "foreign", f"device {number} is made of another node's id")
        known = self._peers.get(node)
        if known is not None and known.number != number:
            detail = f"node {node} says that it is device {number} now"
            raise Refused(known.number, "foreign", detail)
        owner = self._owners.get(number, node)
        lives = owner in self._answered or (owner in online and owner in self._before)
        if owner != node and lives:
            raise Refused(
                number,
                "doubled",
                f"nodes {owner} and {node} both say that they are device {number}: give each its own "
                "partition-id",
            )
        if owner != node:
            self._peers.pop(owner, None)
        self._owners[number] = node
        self._answered.add(node)
        self._peers[node] = Peer(number=number, held=held, known=True)
        return self._peers[node]

    def forget(self, node: int) -> None:
        """The node is not where it said: send it everything next time."""
        if node in self._peers:
            self._peers[node] = replace(self._peers[node], held=NOTHING)
