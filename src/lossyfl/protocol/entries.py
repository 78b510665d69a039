"""One frame handed over, and what many of them add up to, beside what exact floats would have taken."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, get_args

Direction = Literal["down", "up"]
EntryKind = Literal["initial", "update", "catch-up", "reply"]
View = Literal["broadcast", "unicast"]

SHARED: tuple[EntryKind, ...] = ("initial", "update")
"""Kinds of frames that all devices of a round may hear."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One frame handed over.

    nbytes:       its length
    entries:      of the vector
    paper_bits:   R_Q, or 33 bits per entry for exact floats, as the paper counts
    entropy_bits: the entropy of its symbols by the counts that it carries; 32 bits per raw entry
    frame:        a number that is the same for the same frame of a round
    """

    round: int
    direction: Direction
    device: int
    kind: EntryKind
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
        """The saving by the paper's count: 33 bits per entry over R_Q."""
        return self.paper_raw_bits / self.paper_bits if self.paper_bits else 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Entries of one direction that were added up, in one view.

    kinds:  of one, the sums of its frames; of all, how long models of floats would be in the place of
            exactly these kinds, which somebody was handed in one round
    floats: the entries of those models
    """

    direction: Direction
    view: View
    kinds: str = ""
    frames: int = 0
    nbytes: int = 0
    paper_bits: float = 0.0
    entropy_bits: float = 0.0
    floats: int = 0

    def __add__(self, other: "Row") -> "Row":
        return replace(
            self,
            frames=self.frames + other.frames,
            nbytes=self.nbytes + other.nbytes,
            paper_bits=self.paper_bits + other.paper_bits,
            entropy_bits=self.entropy_bits + other.entropy_bits,
            floats=self.floats + other.floats,
        )

    @property
    def total(self) -> Total:
        """With what exact floats would have taken."""
        return Total(
            frames=self.frames,
            nbytes=self.nbytes,
            paper_bits=self.paper_bits,
            entropy_bits=self.entropy_bits,
            raw_bytes=4 * self.floats,
            paper_raw_bits=33.0 * self.floats,
        )


def whom(entry: Entry, view: View) -> tuple[int, int]:
    """The round, and the device that a model of plain floats would be for; -1 for all at once."""
    to_all = entry.direction == "down" and view == "broadcast"
    return entry.round, -1 if to_all else entry.device


def once(entries: list[Entry]) -> list[Entry]:
    """Frames that a broadcast carries, once; other catch-ups and replies are for one device each."""
    shared = {_heard(entry): entry for entry in reversed(entries) if entry.kind in SHARED}
    first = {id(entry) for entry in shared.values()}
    return [entry for entry in entries if id(entry) in first or _heard(entry) not in shared]


def _heard(entry: Entry) -> tuple[int, int]:
    return entry.round, entry.frame


def row_sums(entries: list[Entry]) -> Iterator[Row]:
    """The sums of some rounds."""
    for direction in get_args(Direction):
        heard = [entry for entry in entries if entry.direction == direction]
        yield from _rows_of(heard, direction, "unicast")
        yield from _rows_of(once(heard), direction, "broadcast")


def _rows_of(entries: list[Entry], direction: Direction, view: View) -> Iterator[Row]:
    got: dict[tuple[int, int], set[EntryKind]] = {}
    models: dict[tuple[int, int], int] = {}
    for entry in entries:
        to = whom(entry, view)
        got.setdefault(to, set()).add(entry.kind)
        models[to] = entry.entries
    for kind in get_args(EntryKind):
        some = [entry for entry in entries if entry.kind == kind]
        yield Row(
            direction=direction,
            view=view,
            kinds=kind,
            frames=len(some),
            nbytes=sum(entry.nbytes for entry in some),
            paper_bits=sum(entry.paper_bits for entry in some),
            entropy_bits=sum(entry.entropy_bits for entry in some),
        )
    floats = Counter[str]()
    for to, kinds in got.items():
        floats[" ".join(sorted(kinds))] += models[to]
    for kinds, count in floats.items():
        yield Row(direction=direction, view=view, kinds=kinds, floats=count)
