"""The downlink of every round as it was sent: once for all who hear it, or a copy for every device.

What only participants listen to, or messages carry, as on Flower, reaches no two devices at once. Such
frames, and the models of floats that they are compared with, count for every device that is sent one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from lossyfl.protocol.entries import EntryKind
from lossyfl.results.ledger_file import Line, read_lines
from lossyfl.results.records import Round, Traffic


def as_sent(rounds: Sequence[Round], ledger: Path, *, listen: str = "all") -> tuple[Round, ...]:
    """The rounds, with copies where every device had its own; those of older versions from the ledger.

    listen: as the settings of the run say
    """
    to_each = listen == "participants"
    if not any(_lacks_copies(record, to_each=to_each) for record in rounds) or not ledger.is_file():
        return tuple(rounds)
    known = _by_round(ledger, last=rounds[-1].round)
    return tuple(
        replace(record, copies=replace(known[record.round], carrier=record.down.carrier))
        if _lacks_copies(record, to_each=to_each) and record.round in known
        else record
        for record in rounds
    )


def _lacks_copies(record: Round, *, to_each: bool) -> bool:
    return record.copies is None and (to_each or record.down.carrier > 0)


def _by_round(path: Path, *, last: int) -> dict[int, Traffic]:
    """What the last evaluation took has the number of a round that never was: it belongs to the last."""
    handed: dict[int, list[Line]] = {}
    for line in read_lines(path):
        if line.frame.direction == "down":
            handed.setdefault(min(line.frame.round, last), []).append(line)
    return {at: _copies(own) for at, own in handed.items()}


def _copies(lines: Sequence[Line]) -> Traffic:
    """Every frame for every device: counted, since a line may name more devices than memory holds."""

    def nbytes(kind: EntryKind) -> int:
        return sum(line.count * line.frame.nbytes for line in lines if line.frame.kind == kind)

    total = sum(line.count * line.frame.nbytes for line in lines)
    entries = _entries(lines)
    return Traffic(
        nbytes=total,
        unicast=total,
        initial=nbytes("initial"),
        update=nbytes("update"),
        catch_up=nbytes("catch-up"),
        raw=4 * entries,
        paper=sum(line.count * line.frame.paper_bits for line in lines) / 8,
        entropy=sum(line.count * line.frame.entropy_bits for line in lines) / 8,
        entries=entries,
    )


def _entries(lines: Sequence[Line]) -> int:
    """Of models of floats: one in each round for each device that was handed anything."""
    rounds: dict[int, list[Line]] = {}
    for line in lines:
        rounds.setdefault(line.frame.round, []).append(line)
    return sum(
        own[-1].frame.entries * _distinct(run for line in own for run in line.devices)
        for own in rounds.values()
    )


def _distinct(runs: Iterable[range]) -> int:
    """How many numbers are in any of these ranges.

    >>> _distinct([range(5, 9), range(0, 3), range(2, 6)])
    9
    """
    count = end = 0
    for run in sorted(runs, key=lambda run: run.start):
        count += max(run.stop - max(run.start, end), 0)
        end = max(end, run.stop)
    return count
