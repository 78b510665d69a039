"""What a report needs of every frame of a ledger; `ledger_file` has all of it, and takes far longer."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from lossyfl.errors import InputError
from lossyfl.files.reading import read_text
from lossyfl.results.ledger_file import HEADER
from lossyfl.results.records import LARGEST_WHOLE


class Frame(NamedTuple):
    """A frame that was handed over; `devices` as the file has them: `0-2 5`."""

    round: int
    direction: str
    kind: str
    devices: str
    nbytes: int


def frames(path: Path) -> Iterator[Frame]:
    """The frames of all whole lines of a ledger, which may still be growing."""
    text = read_text(path, of="a run")
    lines = text[: text.rfind("\n") + 1].splitlines()
    if not lines or lines[0] + "\n" != HEADER:
        got = lines[0] if lines else "nothing"
        raise InputError("header", of=path.name, allowed=HEADER.strip(), got=got)
    for number, line in enumerate(lines[1:], start=2):
        parts = line.split(",")
        try:
            frame = Frame(int(parts[0]), parts[1], parts[2], parts[3], int(parts[4]))
            if not 0 <= frame.nbytes < LARGEST_WHOLE:
                raise ValueError("a number of bytes that no frame has")
        except (ValueError, IndexError) as error:
            where = f"line {number} of {path.name}"
            raise InputError("content", of=where, allowed="a frame", got=line) from error
        yield frame
