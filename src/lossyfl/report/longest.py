"""The longest reply of every round: uplinks work in parallel, and the round waits for it."""

from collections.abc import Sequence
from pathlib import Path

from lossyfl.errors import InputError
from lossyfl.files.reading import read_text
from lossyfl.results.ledger_file import HEADER
from lossyfl.results.records import LARGEST_WHOLE, Round


def longest_replies(path: Path, rounds: Sequence[Round]) -> tuple[float, ...]:
    """Bytes, for each round; without a ledger, the mean over the devices that answered."""
    if not path.is_file():
        return tuple(record.up.nbytes / max(record.replies, 1) for record in rounds)
    text = read_text(path, of="a run")
    lines = text[: text.rfind("\n") + 1].splitlines()
    if not lines or lines[0] + "\n" != HEADER:
        got = lines[0] if lines else "nothing"
        raise InputError("header", of=path.name, allowed=HEADER.strip(), got=got)
    most: dict[int, int] = {}
    for number, line in enumerate(lines[1:], start=2):
        parts = line.split(",")
        try:
            round, direction, nbytes = int(parts[0]), parts[1], int(parts[4])  # noqa: A001
            if not 0 <= nbytes < LARGEST_WHOLE:
                raise ValueError("a number of bytes that no frame has")
        except (ValueError, IndexError) as error:
            where = f"line {number} of {path.name}"
            raise InputError("content", of=where, allowed="a frame", got=line) from error
        if direction == "up":
            most[round] = max(most.get(round, 0), nbytes)
    return tuple(float(most.get(record.round, 0)) for record in rounds)
