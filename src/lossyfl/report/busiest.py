"""The busiest device of every round: on links of their own, all others wait for it."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from lossyfl.errors import InputError
from lossyfl.simulation.ledger_file import HEADER
from lossyfl.simulation.records import Round


@dataclass(frozen=True, slots=True, kw_only=True)
class Busiest:
    """Bytes of one round: the most that one device was sent, and the longest reply."""

    down: float
    up: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """What one line of the ledger says: these devices were handed a frame, or sent it."""

    round: int
    direction: str
    devices: str
    nbytes: int


def busiest(path: Path, rounds: Sequence[Round]) -> tuple[Busiest, ...]:
    """One for each round; without a ledger, the mean over the devices that answered."""
    if not path.is_file():
        return tuple(_mean(record) for record in rounds)
    text = path.read_text()
    lines = text[: text.rfind("\n") + 1].splitlines()
    if not lines or lines[0] + "\n" != HEADER:
        got = lines[0] if lines else "nothing"
        raise InputError("header", of=path.name, allowed=HEADER.strip(), got=got)
    by_round: defaultdict[tuple[int, str], list[_Line]] = defaultdict(list)
    for number, text in enumerate(lines[1:], start=2):
        line = _line(text, f"line {number} of {path.name}")
        by_round[line.round, line.direction].append(line)
    return tuple(
        Busiest(
            down=_most(by_round.get((record.round, "down"), [])),
            up=_most(by_round.get((record.round, "up"), [])),
        )
        for record in rounds
    )


def _line(text: str, place: str) -> _Line:
    parts = text.split(",")
    try:
        return _Line(
            round=int(parts[0]), direction=parts[1], devices=parts[3], nbytes=int(parts[4])
        )
    except (ValueError, IndexError) as error:
        raise InputError("content", of=place, allowed="a frame", got=text) from error


def _most(lines: Sequence[_Line]) -> int:
    """The most bytes of one device."""
    if len({line.devices for line in lines}) == len(lines) and all(
        line.devices.isdigit() for line in lines
    ):
        return max((line.nbytes for line in lines), default=0)  # the usual replies, one each
    if len(lines) == 1:
        return lines[0].nbytes  # the usual broadcast, the same for all
    total: defaultdict[int, int] = defaultdict(int)
    for line in lines:
        for device in _devices(line.devices):
            total[device] += line.nbytes
    return max(total.values(), default=0)


def _devices(text: str) -> Iterable[int]:
    """The numbers in text like "0-2 5"."""
    try:
        for part in text.split():
            first, _, last = part.partition("-")
            yield from range(int(first), int(last or first) + 1)
    except ValueError as error:
        allowed = "numbers and ranges"
        raise InputError("devices", of="ledger.csv", allowed=allowed, got=text) from error


def _mean(record: Round) -> Busiest:
    answered = max(record.replies, 1)
    return Busiest(down=record.down.unicast / answered, up=record.up.nbytes / answered)
