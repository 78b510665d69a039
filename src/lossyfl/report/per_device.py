"""Bytes of every device of a run: what it was handed and what it sent, from the ledger.

A short file may name very many devices. So what is kept is not a number for each, but stretches of devices
that were handed and sent as many bytes; each line of a ledger begins and ends few of them.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lossyfl.errors import InputError
from lossyfl.report.frames import Frame, frames
from lossyfl.results.records import LARGEST_WHOLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Devices from `first` to before `stop`, and the bytes of each of them.

    catch_up: of those down
    """

    first: int
    stop: int
    down: int
    catch_up: int
    up: int

    @property
    def count(self) -> int:
        """How many devices."""
        return self.stop - self.first


@dataclass(frozen=True, slots=True, kw_only=True)
class Spread:
    """Of some devices: the bytes of the one with the fewest, in the middle, and with the most."""

    least: int
    median: float
    most: int


@dataclass(slots=True)
class _Change:
    """What begins or ends at a device: lines that name it, and their bytes."""

    lines: int = 0
    down: int = 0
    catch_up: int = 0
    up: int = 0

    def add(self, frame: Frame, sign: int) -> None:
        """A frame begins, or ends with a sign of -1."""
        self.lines += sign
        if frame.direction == "up":
            self.up += sign * frame.nbytes
            return
        self.down += sign * frame.nbytes
        if frame.kind == "catch-up":
            self.catch_up += sign * frame.nbytes


def per_device(ledger: Path, devices: int | None = None) -> tuple[Stretch, ...]:
    """The stretches of a ledger in order; none without one.

    devices: of the run, where that is known; those that no line names have no bytes
    """
    if not ledger.is_file():
        return ()
    changes: dict[int, _Change] = {}
    for frame in frames(ledger):
        for run in _runs(frame, ledger.name):
            changes.setdefault(run.start, _Change()).add(frame, 1)
            changes.setdefault(run.stop, _Change()).add(frame, -1)
    if devices:
        changes.setdefault(0, _Change()).lines += 1
        changes.setdefault(devices, _Change()).lines -= 1
    return tuple(_stretches(changes))


def _runs(frame: Frame, name: str) -> Iterator[range]:
    for text in frame.devices.split():
        first, _, last = text.partition("-")
        try:
            run = range(int(first), int(last or first) + 1)
        except ValueError:
            run = range(0)
        if not 0 <= run.start < run.stop <= LARGEST_WHOLE:
            raise InputError("devices", of=name, allowed="numbers, or ranges of some", got=text)
        yield run


def _stretches(changes: dict[int, _Change]) -> Iterator[Stretch]:
    lines = down = catch_up = up = first = 0
    for place in sorted(changes):
        if lines:
            yield Stretch(first=first, stop=place, down=down, catch_up=catch_up, up=up)
        change, first = changes[place], place
        lines += change.lines
        down, catch_up, up = down + change.down, catch_up + change.catch_up, up + change.up


def spread(stretches: Sequence[Stretch], value: Callable[[Stretch], int]) -> Spread:
    """Of all devices in these stretches, of which there are some."""
    ordered = sorted(stretches, key=value)
    count = sum(stretch.count for stretch in ordered)
    middle = [_at(ordered, place, value) for place in ((count - 1) // 2, count // 2)]
    return Spread(least=value(ordered[0]), median=sum(middle) / 2, most=value(ordered[-1]))


def _at(ordered: Sequence[Stretch], place: int, value: Callable[[Stretch], int]) -> int:
    """The value of the device at a place among all of them."""
    for stretch in ordered:
        if place < stretch.count:
            return value(stretch)
        place -= stretch.count
    raise AssertionError("no device has that place")
