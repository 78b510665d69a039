"""Every moment at which a disk can fail or a process can end, one after the other.

A scenario is prepared once, then disturbed at its n-th operation on the disk, for every n, each time in a
process of its own and in a copy of the prepared folder; what is there afterwards must recover.

    kill   the process ends before the operation
    torn   the process ends in the middle of a write
    error  the operation fails, once, as a disk does that is broken
    full   this and all further operations that need room fail
    data, names, all   the power fails before the operation (`power`)
"""

import errno
import os
import random
import shutil
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

import hypothesis
import torch
from tests.crash.power import Disk

from lossyfl.errors import LossyflError
from lossyfl.files import disk
from lossyfl.files.disk import Operation

Way = Literal["kill", "torn", "error", "full", "data", "names", "all"]
PROCESS: tuple[Way, ...] = ("kill", "torn", "error", "full")
POWER: tuple[Way, ...] = ("data", "names", "all")
DONE, KILLED, SAID, WRONG = 0, 77, 78, 79
"""How a process ends: as if nothing had happened, by us, with an error of ours, with any other."""
TAKES_ROOM = ("create", "write", "truncate", "mkdir")
PATIENCE = 120.0
"""Seconds after which a process hangs."""


class Scenario(Protocol):
    """Something that is done on a disk."""

    def prepare(self, folder: Path) -> None:
        """What is there before."""
        ...

    def act(self, folder: Path) -> None:
        """What is disturbed."""
        ...

    def recover(self, folder: Path) -> None:
        """Go on afterwards, and raise AssertionError unless all is as it should be."""
        ...


@dataclass(frozen=True, slots=True)
class Point:
    """The n-th operation, and what happens there."""

    number: int
    way: Way


def points(folder: Path, scenario: Scenario, ways: tuple[Way, ...] = PROCESS) -> list[Point]:
    """All of a scenario."""
    seen = folder / "operations"

    def count() -> None:
        names: list[str] = []
        with disk.watched(lambda operation: names.append(operation.name)):
            scenario.act(folder / "counted")
        seen.write_text("\n".join(names))

    scenario_folder(folder, scenario, "counted")
    assert in_child(count) == DONE
    return [
        Point(number, way)
        for number, name in enumerate(seen.read_text().split())
        for way in ways
        if (way != "torn" or name == "write") and (way != "full" or name in TAKES_ROOM)
    ]


def scenario_folder(folder: Path, scenario: Scenario, name: str) -> None:
    """A folder of that name, as before the scenario."""
    prepared = folder / "prepared"
    if not prepared.exists():
        prepared.mkdir()
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # threads do not survive a fork, what was compiled does
        scenario.prepare(prepared)
        torch.set_num_threads(threads)
    shutil.rmtree(folder / name, ignore_errors=True)
    shutil.copytree(prepared, folder / name)


def disturb_everywhere(
    folder: Path, scenario: Scenario, *, sample: int, ways: tuple[Way, ...] = PROCESS
) -> str:
    """Disturb a scenario at each point, or at a sample of them; what came of it, in one line."""
    every = points(folder, scenario, ways)
    deep = hypothesis.settings().max_examples >= 1000  # `make test-deep`
    chosen = every if deep else random.Random(0).sample(every, sample)
    ends: Counter[int] = Counter()
    for point in chosen:
        ends[disturb(folder, scenario, point)] += 1
    what = f"{type(scenario).__name__} ({', '.join(ways)})"
    text = f"{len(chosen)} of {len(every)} crash points of {what}: all recovered"
    return f"{text} ({ends[KILLED]} killed, {ends[SAID]} said why, {ends[DONE]} went on)"


def disturb(folder: Path, scenario: Scenario, point: Point) -> int:
    """How it ended at one point; raises AssertionError unless it recovers."""
    scenario_folder(folder, scenario, "disturbed")
    out = folder / "disturbed"

    def act() -> None:
        with disk.watched(Saboteur(point)):
            scenario.act(out)

    end = in_child(act)
    allowed = (DONE, SAID) if point.way in ("error", "full") else (KILLED,)
    assert end in allowed, f"{point}: the process ended with {end}"
    assert in_child(lambda: scenario.recover(out)) == DONE, f"{point}: it does not recover"
    return end


class Saboteur:
    """Lets the n-th operation go wrong."""

    def __init__(self, point: Point) -> None:
        self._point, self._seen = point, -1
        self._disk = Disk()

    def __call__(self, operation: Operation) -> None:
        self._seen += 1
        if self._point.way in POWER:
            self._disk.before(operation)
        late = self._seen > self._point.number
        if self._seen < self._point.number or (late and self._point.way != "full"):
            return
        match self._point.way:
            case "kill":
                os._exit(KILLED)
            case "torn":
                os.write(operation.fd, operation.data[: len(operation.data) // 2])
                os._exit(KILLED)
            case "error":
                raise OSError(errno.EIO, os.strerror(errno.EIO), str(operation.path))
            case "data" | "names" | "all":
                self._disk.lose(self._point.way)
                os._exit(KILLED)
            case "full":
                if operation.name in TAKES_ROOM:
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(operation.path))


def in_child(do: Callable[[], None]) -> int:
    """How a process ends that does this, and nothing else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Python warns of threads, which the child does not use
        pid = os.fork()
    if not pid:
        _end(do)
    until = time.monotonic() + PATIENCE
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return WRONG
        time.sleep(0.002)


def _end(do: Callable[[], None]) -> None:
    """Do it, and leave this process by the way it went."""
    torch.set_num_threads(1)
    os.fsync = _nothing  # a process that ends loses nothing: only a machine would
    code = WRONG
    try:
        do()
        code = DONE
    except LossyflError:
        traceback.print_exc()
        code = SAID
    except BaseException:  # all others are told by the code
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(code)


def _nothing(fd: int) -> None:
    del fd
