"""The ledger as lines of CSV: one for a frame and all devices that were handed it.

round,direction,kind,devices,nbytes,entries,paper_bits,entropy_bits,frame
3,down,update,0-39,10243,130890,339281.5,81544.25,2903817234
3,up,reply,0,16400,130890,339281.5,130931.5,481516234
"""

import csv
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import cast

from lossyfl.errors import InputError
from lossyfl.files.reading import read_text
from lossyfl.ledger import Direction, Entry, Kind, Ledger

HEADER = "round,direction,kind,devices,nbytes,entries,paper_bits,entropy_bits,frame\n"
MOST = 10_000_000
"""Devices that a line can name: a short line of many more would be a bomb."""
_shared = attrgetter(
    "round", "direction", "kind", "nbytes", "entries", "paper_bits", "entropy_bits", "frame"
)


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


def read(path: Path) -> Ledger:
    """The ledger of a file."""
    lines = read_text(path, of="a run").splitlines()
    try:
        return Ledger(entry for row in csv.DictReader(lines) for entry in _entries(row))
    except (KeyError, ValueError, TypeError, AttributeError, csv.Error) as error:
        raise InputError("content", of=path.name, allowed="a ledger", got=str(error)) from error


def _entries(row: dict[str, str]) -> Iterator[Entry]:
    for run in row["devices"].split():
        first, _, last = run.partition("-")
        if not 0 <= int(first) <= int(last or first) < int(first) + MOST:
            raise ValueError(f"devices {run}")
        for device in range(int(first), int(last or first) + 1):
            yield Entry(
                round=int(row["round"]),
                direction=cast("Direction", row["direction"]),
                device=device,
                kind=cast("Kind", row["kind"]),
                nbytes=int(row["nbytes"]),
                entries=int(row["entries"]),
                paper_bits=float(row["paper_bits"]),
                entropy_bits=float(row["entropy_bits"]),
                frame=int(row["frame"]),
            )
