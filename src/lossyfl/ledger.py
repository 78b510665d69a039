"""Bytes, from frames only: who was handed what, in which round, and what the paper would count.

    kind      direction  what
    initial   down       the full model, to a device that is new
    update    down       the broadcast of the round, to a device that held the one before
    catch-up  down       what a device has missed: frames in order, or the full model
    reply     up         a reply that was accepted

Two ways of adding up the downlink: `broadcast` counts a frame that many devices hear in one round once,
and what only one of them lacks for that one; `unicast` counts every frame for every device that was
handed it. Savings are against 32-bit floats, which are one model a round: a device that missed some
needs no more than the newest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

Direction = Literal["down", "up"]
Kind = Literal["initial", "update", "catch-up", "reply"]
View = Literal["broadcast", "unicast"]

SHARED: tuple[Kind, ...] = ("initial", "update")
"""Kinds of frames that all devices of a round may hear."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One frame handed over.

    nbytes:       its length
    entries:      of the vector
    paper_bits:   R_Q, or 33 bits an entry for exact floats, as the paper counts
    entropy_bits: the entropy of its symbols by the counts that it carries; 32 bits a raw entry
    frame:        a number that is the same for the same frame of a round
    """

    round: int
    direction: Direction
    device: int
    kind: Kind
    nbytes: int
    entries: int
    paper_bits: float
    entropy_bits: float
    frame: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """What some entries add up to, and what exact floats would have taken."""

    frames: int
    nbytes: int
    paper_bits: float
    entropy_bits: float
    raw_bytes: int
    paper_raw_bits: float

    @property
    def saving(self) -> float:
        """How many times fewer bytes than 32-bit floats."""
        return self.raw_bytes / self.nbytes if self.nbytes else 1.0

    @property
    def paper_saving(self) -> float:
        """The saving by the paper's count: 33 bits an entry over R_Q."""
        return self.paper_raw_bits / self.paper_bits if self.paper_bits else 1.0


class Ledger:
    """All frames handed over, and eps of every broadcast."""

    def __init__(
        self, entries: Iterable[Entry] = (), eps: Iterable[tuple[int, float]] = ()
    ) -> None:
        self.entries: list[Entry] = list(entries)
        self.eps: dict[int, float] = dict(eps)

    def add(self, entry: Entry) -> None:
        """Note one frame."""
        self.entries.append(entry)

    def drain(self, through: int | None = None) -> "Ledger":
        """All that was noted, through a round if one is given; it is gone from this ledger then."""

        def is_due(round: int) -> bool:
            return through is None or round <= through

        drained = Ledger(
            (entry for entry in self.entries if is_due(entry.round)),
            (noted for noted in self.eps.items() if is_due(noted[0])),
        )
        self.entries = [entry for entry in self.entries if not is_due(entry.round)]
        self.eps = dict(noted for noted in self.eps.items() if not is_due(noted[0]))
        return drained

    def rename(self, numbers: Mapping[int, int]) -> None:
        """Note everything of some devices under other numbers."""
        self.entries = [
            replace(entry, device=numbers[entry.device]) if entry.device in numbers else entry
            for entry in self.entries
        ]

    def total(
        self,
        direction: Direction,
        *,
        view: View = "broadcast",
        round: int | None = None,
        kinds: tuple[Kind, ...] | None = None,
    ) -> Total:
        """The sum over a direction, of one round or all, of some kinds or all."""
        chosen = [
            entry
            for entry in self.entries
            if entry.direction == direction and (round is None or entry.round == round)
        ]
        if view == "broadcast":
            chosen = _once(chosen)
        chosen = [entry for entry in chosen if kinds is None or entry.kind in kinds]
        # Floats would be one model a round to all, or to each device; replies are one each.
        models = {_whom(entry, view): entry.entries for entry in chosen}
        return Total(
            frames=len(chosen),
            nbytes=sum(entry.nbytes for entry in chosen),
            paper_bits=sum(entry.paper_bits for entry in chosen),
            entropy_bits=sum(entry.entropy_bits for entry in chosen),
            raw_bytes=sum(4 * entries for entries in models.values()),
            paper_raw_bits=sum(33.0 * entries for entries in models.values()),
        )


def _whom(entry: Entry, view: View) -> tuple[int, int]:
    """The round, and the device that a model of plain floats would be for; -1 for all at once."""
    to_all = entry.direction == "down" and view == "broadcast"
    return entry.round, -1 if to_all else entry.device


def _once(entries: list[Entry]) -> list[Entry]:
    """Frames that a broadcast carries, once; other catch-ups and replies are for one device each."""
    shared = {_heard(entry): entry for entry in reversed(entries) if entry.kind in SHARED}
    first = {id(entry) for entry in shared.values()}
    return [entry for entry in entries if id(entry) in first or _heard(entry) not in shared]


def _heard(entry: Entry) -> tuple[int, int]:
    return entry.round, entry.frame
