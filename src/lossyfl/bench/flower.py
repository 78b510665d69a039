"""The peer of `lossyfl bench simulation`: the same local training under Flower's simulation engine.

Flower and Ray weigh 500 MB and pin versions, so they are no dependency. Where they are not installed,
pip puts them into a folder of the user's cache once, and a process of its own (`flower_peer`) sees that
folder behind everything that is installed here.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from statistics import median

from lossyfl.data.places import cache_root
from lossyfl.data.sources.source import SourceError
from lossyfl.data.sources.tools import run

VERSION = "1.41.0"
MARK = "PEER "
"""What the peer's line of results begins with."""
SECONDS = 1800
"""How long the peer may take, start-up included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """What Flower took.

    start_up: from the launch to the end of round 1, less a round: imports, Ray, its actors
    seconds:  of every round after the first
    """

    start_up: float
    seconds: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """No measurement, and why."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What every round consists of: one process builds it from this once, and keeps it."""

    task: str
    devices: int
    tau: int
    batch: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The peer's line of results, in seconds.

    launch: from the launch of the process until the server asks for round 1
    first:  round 1, in which Ray and its actors start
    later:  every other round
    """

    launch: float
    first: float
    later: tuple[float, ...]


class Failed(Exception):
    """The peer cannot be measured; the message is why."""


def measure(
    task: str, devices: int, tau: int, batch: int, rounds: int, cpus: int
) -> Peer | Skipped:
    """Seconds of Flower's rounds with one actor a CPU; what goes wrong is the reason to skip them."""
    if rounds < 2:
        return Skipped(reason=f"rounds must be at least 2, the first is start-up, got {rounds}")
    work = Work(task=task, devices=devices, tau=tau, batch=batch)
    try:
        report = parse(launch(command(work, rounds, cpus, packages())))
    except (Failed, SourceError, OSError) as error:
        return Skipped(reason=" ".join(str(error).split()))
    start_up = report.launch + report.first - median(report.later)
    return Peer(start_up=start_up, seconds=report.later)


def packages() -> Path | None:
    """A folder with Flower and Ray, filled if need be; None if both are installed here."""
    if find_spec("flwr") and find_spec("ray"):
        return None
    # Wheels fit one version of Python.
    folder = cache_root() / f"flwr-{VERSION}-{sys.implementation.cache_tag}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="flwr-", dir=folder.parent) as unfinished:
            _install(Path(unfinished) / "packages", folder)
    return folder


def _install(unfinished: Path, folder: Path) -> None:
    """Fill a folder and give it its name when it is whole."""
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-input")
    what = ("--only-binary=:all:", f"flwr[simulation]=={VERSION}")
    run([*pip, "--target", str(unfinished), *what], unfinished.parent)
    try:
        unfinished.rename(folder)
    except OSError:
        if not folder.is_dir():  # else another process was faster
            raise


def command(work: Work, rounds: int, cpus: int, folder: Path | None) -> list[str]:
    """The peer's command line; the launch counts from now."""
    program = [sys.executable, "-m", "lossyfl.bench.flower_peer", "--task", work.task]
    numbers = {
        "--devices": work.devices,
        "--tau": work.tau,
        "--batch": work.batch,
        "--rounds": rounds,
        "--cpus": cpus,
        "--started": time.time(),
    }
    options = [text for name, value in numbers.items() for text in (name, str(value))]
    return program + options + (["--packages", str(folder)] if folder else [])


def launch(program: list[str]) -> str:
    """What a program writes; when it ends, or is ended, so does all that it has started."""
    folder = Path(tempfile.mkdtemp(prefix="lossyfl-"))  # short: Ray's sockets lie below it
    try:
        return _launch(program, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _launch(program: list[str], folder: Path) -> str:
    """What it writes; the folder is for all its temporary files."""
    # Files, not pipes: a pipe stays open as long as any process that has inherited it.
    output, complaints = folder / "output", folder / "complaints"
    with output.open("wb") as out, complaints.open("wb") as err:
        environment = os.environ | {"TMPDIR": str(folder)}
        process = subprocess.Popen(
            program,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=environment,
            start_new_session=True,
        )
        try:
            code = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise Failed(f"no end within {SECONDS} s") from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if code:
        lines = complaints.read_text(errors="replace").split("\n")
        raise Failed(next((x for x in reversed(lines) if x.strip()), f"exit code {code}"))
    return output.read_text(errors="replace")


def parse(output: str) -> Report:
    """The results in what the peer has written.

    >>> parse('PEER {"launch": 4.0, "first": 5.0, "later": [0.5, 0.25]}')
    Report(launch=4.0, first=5.0, later=(0.5, 0.25))
    """
    lines = [line for line in output.splitlines() if line.startswith(MARK)]
    if len(lines) != 1:
        raise Failed(f"the peer gave {len(lines)} lines of results")
    try:
        facts = json.loads(lines[0].removeprefix(MARK))
        later = tuple(float(seconds) for seconds in facts["later"])
        report = Report(launch=float(facts["launch"]), first=float(facts["first"]), later=later)
    except (ValueError, KeyError, TypeError):
        raise Failed(f"the peer gave no results but {lines[0]}") from None
    if not later:
        raise Failed("the peer gave one round only")
    return report
