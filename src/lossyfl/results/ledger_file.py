"""The ledger as lines of CSV: one for a frame and all devices that were handed it.

round,direction,kind,devices,nbytes,entries,paper_bits,entropy_bits,frame
3,down,update,0-39,10243,130890,339281.5,81544.25,2903817234
3,up,reply,0,16400,130890,339281.5,130931.5,481516234
"""

import csv
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import cast, get_args

from lossyfl.errors import InputError
from lossyfl.files.reading import read_text
from lossyfl.protocol.entries import Direction, Entry, EntryKind
from lossyfl.protocol.ledger import Ledger
from lossyfl.results.records import LARGEST_WHOLE, is_number

HEADER = "round,direction,kind,devices,nbytes,entries,paper_bits,entropy_bits,frame\n"
MOST = 1_000_000
"""Devices that all lines together name, if nobody says more: a short file of very many would be a bomb."""
_shared = attrgetter(
    "round", "direction", "kind", "nbytes", "entries", "paper_bits", "entropy_bits", "frame"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A frame and all devices that were handed it, however many those are.

    frame: as it was handed to the first of them
    """

    frame: Entry
    devices: tuple[range, ...]

    @property
    def count(self) -> int:
        """How often it was handed over."""
        return sum(run.stop - run.start for run in self.devices)


def lines(entries: Iterable[Entry]) -> Iterator[str]:
    """The lines of these entries, neighbours of the same frame on one."""
    for _, group in groupby(entries, key=_shared):
        members = list(group)
        first = members[0]
        facts = (first.nbytes, first.entries, first.paper_bits, first.entropy_bits, first.frame)
        devices = ranges([entry.device for entry in members])
        yield ",".join(map(str, (first.round, first.direction, first.kind, devices, *facts))) + "\n"


def ranges(numbers: list[int]) -> str:
    """Numbers as text, neighbours as ranges.

    >>> ranges([0, 1, 2, 5, 7, 8])
    '0-2 5 7-8'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return " ".join("-".join(map(str, run)) for run in runs)


def read(path: Path, *, most: int = MOST) -> Ledger:
    """The ledger of a file, with an entry for every device; `read_lines` does without."""
    found = list(read_lines(path))
    if (named := sum(line.count for line in found)) > most:
        allowed = f"at most {most:,} in all (`most` sets the limit)"
        raise InputError("devices", of=path.name, allowed=allowed, got=f"{named:,}")
    return Ledger(
        replace(line.frame, device=device)
        for line in found
        for run in line.devices
        for device in run
    )


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of a file, each checked to be one that a run can have written."""
    text = read_text(path, of="a run").splitlines()
    try:
        for row in csv.DictReader(text):
            yield _line(row)
    except (KeyError, ValueError, TypeError, AttributeError, csv.Error) as error:
        raise InputError("content", of=path.name, allowed="a ledger", got=str(error)) from error


def _line(row: dict[str, str]) -> Line:
    devices = tuple(map(_run, row["devices"].split()))
    if row["direction"] not in get_args(Direction) or row["kind"] not in get_args(EntryKind):
        raise ValueError(f"a {row['kind']} that goes {row['direction']}")
    frame = Entry(
        round=_whole(row["round"]),
        direction=cast("Direction", row["direction"]),
        device=devices[0].start if devices else 0,
        kind=cast("EntryKind", row["kind"]),
        nbytes=_whole(row["nbytes"]),
        entries=_whole(row["entries"]),
        paper_bits=_bits(row["paper_bits"]),
        entropy_bits=_bits(row["entropy_bits"]),
        frame=_whole(row["frame"]),
    )
    return Line(frame=frame, devices=devices)


def _run(text: str) -> range:
    first, _, last = text.partition("-")
    run = range(_whole(first), _whole(last or first) + 1)
    if run.stop <= run.start:
        raise ValueError(f"devices {text}")
    return run


def _whole(text: str) -> int:
    number = int(text)
    if not 0 <= number < LARGEST_WHOLE:
        raise ValueError(f"{text[:40]} is beyond what a run has")
    return number


def _bits(text: str) -> float:
    number = float(text)
    if not (is_number(number) and number >= 0):
        raise ValueError(f"{text[:40]} bits")
    return number
