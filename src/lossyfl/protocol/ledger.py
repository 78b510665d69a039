"""Bytes, from frames only: who was handed what, in which round, and what the paper would count.

    kind      direction  what
    initial   down       the full model, to a device that is new
    update    down       the broadcast of the round, to a device that held the one before
    catch-up  down       what a device has missed: frames in order, or the full model
    reply     up         a reply that was accepted

Two ways of adding up the downlink: `broadcast` counts a frame that many devices hear in one round once,
and what only one of them lacks for that one; `unicast` counts every frame for every device that was
handed it. Savings are against 32-bit floats, which are one model per round: a device that missed some
needs no more than the newest.

Entries of a long training would fill the memory, and every checkpoint: where there are more than MOST, those
of rounds before the last are added up, and handed to the sink, if there is one, to be written down.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lossyfl.errors import InputError, printable
from lossyfl.protocol.entries import (
    Direction,
    Entry,
    EntryKind,
    Row,
    Total,
    View,
    once,
    row_sums,
    whom,
)

if TYPE_CHECKING:
    from lossyfl.wire.facts import Facts  # no kernel is needed to read a ledger

LATEST = 100
"""Refusals that are kept with all that is known of them."""
LONGEST_DETAIL = 300
MOST = 10_000
"""Entries, and eps, that are kept; and those of two rounds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A reply that was refused, or taken with a note: when, whose, and why."""

    round: int
    device: int
    reason: str
    detail: str


class Refusals:
    """How often replies were refused, by reason, and the latest of them."""

    def __init__(
        self, recent: Iterable[Refusal] = (), counts: Iterable[tuple[str, int]] = ()
    ) -> None:
        self.recent: deque[Refusal] = deque(recent, maxlen=LATEST)
        self.counts: Counter[str] = Counter(dict(counts))

    def note(self, round: int, device: int, reason: str, detail: str) -> None:
        """Note one; what others have sent may be in its detail, so that is one short line."""
        plain = printable(detail[: LONGEST_DETAIL + 1]).replace("\n", r"\n")
        cut = plain if len(plain) <= LONGEST_DETAIL else f"{plain[:LONGEST_DETAIL]}..."
        self.recent.append(Refusal(round=round, device=device, reason=reason, detail=cut))
        self.counts[reason] += 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Sums over all rounds through one, of which there are no entries any more."""

    through: int = -1
    rows: tuple[Row, ...] = ()


NO_ROUNDS = Summary()
Sink = Callable[["Ledger"], None]
"""Who writes down what a ledger will only have sums of; after a restart it may be handed a round again."""


class Ledger:
    """Frames handed over, eps of broadcasts, and replies that were refused."""

    def __init__(
        self,
        entries: Iterable[Entry] = (),
        eps: Iterable[tuple[int, float]] = (),
        *,
        summary: Summary = NO_ROUNDS,
        sink: Sink | None = None,
    ) -> None:
        self.entries: list[Entry] = list(entries)
        self.eps: dict[int, float] = dict(eps)
        self.refusals = Refusals()
        self.summary = summary
        self._sink = sink

    def add(self, entry: Entry) -> None:
        """Note one frame."""
        self.entries.append(entry)

    def hand_over(
        self,
        frame: bytes,
        facts: "Facts",
        direction: Direction,
        round: int,
        device: int,
        kind: EntryKind,
    ) -> None:
        """Note a frame of which the facts are known."""
        self.entries.append(
            Entry(
                round=round,
                direction=direction,
                device=device,
                kind=kind,
                nbytes=facts.nbytes,
                entries=facts.entries,
                paper_bits=facts.paper_bits,
                entropy_bits=facts.entropy_bits,
                frame=int.from_bytes(frame[-4:], "little"),
            )
        )

    def fold(self, before: int) -> None:
        """Add up all rounds before this one, if there are more entries than are to be kept."""
        if len(self.entries) + len(self.eps) <= MOST:
            return
        old = self.drain(through=before - 1)
        if not old.entries and not old.eps:
            return
        if self._sink is not None:
            self._sink(old)
        rows = {(row.direction, row.view, row.kinds): row for row in self.summary.rows}
        for row in row_sums(old.entries):
            key = (row.direction, row.view, row.kinds)
            rows[key] = rows[key] + row if key in rows else row
        self.summary = Summary(through=before - 1, rows=tuple(rows.values()))

    def take_back(self, round: int, device: int) -> None:
        """The reply of a device in a round was not accepted after all."""
        self.entries = [
            entry
            for entry in self.entries
            if (entry.round, entry.direction, entry.device) != (round, "up", device)
        ]

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
        kinds: tuple[EntryKind, ...] | None = None,
    ) -> Total:
        """The sum over a direction, of one round or all, of some kinds or all."""
        if round is not None and 0 <= round <= self.summary.through:
            allowed = f"> {self.summary.through} (of those before there are sums over all rounds)"
            raise InputError("round", of="Ledger", allowed=allowed, got=round)
        chosen = [
            entry
            for entry in self.entries
            if entry.direction == direction and (round is None or entry.round == round)
        ]
        if view == "broadcast":
            chosen = once(chosen)
        chosen = [entry for entry in chosen if kinds is None or entry.kind in kinds]
        # Floats would be one model per round to all, or to each device; replies are one each.
        models = {whom(entry, view): entry.entries for entry in chosen}
        here = Row(
            direction=direction,
            view=view,
            frames=len(chosen),
            nbytes=sum(entry.nbytes for entry in chosen),
            paper_bits=sum(entry.paper_bits for entry in chosen),
            entropy_bits=sum(entry.entropy_bits for entry in chosen),
            floats=sum(models.values()),
        )
        return (here if round is not None else sum(self._before(here, kinds), here)).total

    def _before(self, like: "Row", kinds: tuple[EntryKind, ...] | None) -> Iterator["Row"]:
        """What a sum over all rounds has from those that there are no entries of."""
        for row in self.summary.rows:
            known = row.kinds.split()
            if (row.direction, row.view) != (like.direction, like.view):
                continue
            if kinds is None or set(known) & set(kinds):
                yield (
                    row
                    if len(known) == 1
                    else Row(direction=row.direction, view=row.view, floats=row.floats)
                )
