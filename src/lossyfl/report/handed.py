"""The downlink of every round as it was sent: once for all who hear it, or a copy for every node.

What is carried by messages, as on Flower, reaches no two nodes at once. Reports count such frames, and the
models of floats that they are compared with, for every node that is sent one.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from lossyfl.ledger import Entry, Ledger
from lossyfl.simulation import ledger_file
from lossyfl.simulation.records import Round, Traffic, downlink


def as_sent(rounds: Sequence[Round], ledger: Path) -> tuple[Round, ...]:
    """The rounds, with copies where messages carried the frames; those of older versions from the ledger."""
    if not any(_lacks_copies(record) for record in rounds) or not ledger.is_file():
        return tuple(rounds)
    known = _by_round(ledger, last=rounds[-1].round)
    return tuple(
        replace(record, copies=replace(known[record.round], carrier=record.down.carrier))
        if _lacks_copies(record) and record.round in known
        else record
        for record in rounds
    )


def _lacks_copies(record: Round) -> bool:
    return record.copies is None and record.down.carrier > 0


def _by_round(path: Path, *, last: int) -> dict[int, Traffic]:
    """What the last evaluation took has the number of a round that never was: it belongs to the last."""

    def number(entry: Entry) -> int:
        return min(entry.round, last)

    entries = sorted(ledger_file.read(path).entries, key=number)
    return {at: downlink(Ledger(own), "unicast") for at, own in groupby(entries, key=number)}
