"""Which of a framework's peers is which device, and what it is known to hold.

A framework names its peers by ids of its own; Flower's are random numbers of 64 bits, anew after a restart
without a key. Devices have small numbers, which address their random streams and order the sum: a peer says
its own with its first reply; until then it goes by one made of its id. What a peer holds is known from its
replies only; silence and errors change nothing, since a device passes over frames that it had.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from lossyfl.adapters.framework import OWN, Framework
from lossyfl.errors import Refused
from lossyfl.protocol.digests import NOTHING, EstimateVersion

STRANGER = 1 << 62
"""Numbers from here on are made of ids."""


def made_of(address: int) -> int:
    """The number of a peer that has not said its own."""
    return STRANGER | address & (STRANGER - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A peer that has said who it is, to be saved; `node` is its id."""

    node: int
    number: int
    held: EstimateVersion


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """The number of a peer's device, and the last estimate that it said it holds.

    known: whether it has said its number
    """

    number: int
    held: EstimateVersion = NOTHING
    known: bool = False


class Peers:
    """All peers that were ever written to, by their ids."""

    def __init__(self, framework: Framework = OWN) -> None:
        self._framework = framework
        self._peers: dict[int, Peer] = {}
        self._owners: dict[int, int] = {}
        self._answered: set[int] = set()
        self._before: set[int] = set()

    def __getitem__(self, address: int) -> Peer:
        return self._peers.get(address, Peer(number=made_of(address)))

    def known(self) -> tuple[Known, ...]:
        """All that have said who they are."""
        return tuple(
            Known(node=address, number=peer.number, held=peer.held)
            for address, peer in self._peers.items()
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
        self, address: int, number: int, held: EstimateVersion, *, online: Collection[int]
    ) -> Peer:
        """Note what a peer says of itself; raise Refused if that is another's number.

        A number goes over to a new peer once its old one is offline or has missed a round: one that restarts
        without a key has a new id, and the old one seems to be online for a while.
        """
        if number >= STRANGER and number != made_of(address):
            detail = f"device {number} is made of another {self._framework.device}'s id"
            raise Refused(made_of(address), "foreign", detail)
        known = self._peers.get(address)
        if known is not None and known.number != number:
            detail = f"{self._framework.device} {address} says that it is device {number} now"
            raise Refused(known.number, "foreign", detail)
        owner = self._owners.get(number, address)
        lives = owner in self._answered or (owner in online and owner in self._before)
        if owner != address and lives:
            raise Refused(
                number,
                "doubled",
                f"{self._framework.device}s {owner} and {address} both say that they are device {number}: "
                f"give each {self._framework.own_number}",
            )
        if owner != address:
            self._peers.pop(owner, None)
        self._owners[number] = address
        self._answered.add(address)
        self._peers[address] = Peer(number=number, held=held, known=True)
        return self._peers[address]

    def forget(self, address: int) -> None:
        """The peer is not where it said: send it everything next time."""
        if address in self._peers:
            self._peers[address] = replace(self._peers[address], held=NOTHING)
