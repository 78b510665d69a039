"""Flower's simulation engine with our app, in a process of its own: what its rounds take.

`lossyfl bench simulation` compares plain FedAvg there with our simulator, `lossyfl bench flower` with
lossyfl on the same engine.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from statistics import median

from lossyfl.errors import MissingExtra, Stopped

PLAIN = "plain"
"""Instead of a scheme: Flower without lossyfl."""
SECONDS = 1800
"""How long the engine may take, start-up included."""

Settings = Mapping[str, str | int]
"""By the names of `lossyfl run`'s."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Times:
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
class Evaluation:
    """The end of a round, or the start: the server evaluates the model from `began` to `ended`.

    replies: how many devices it was made of
    """

    began: float
    ended: float
    replies: int


def measure(settings: Settings, *, devices: int, rounds: int) -> Times | Skipped:
    """Seconds of plain FedAvg's rounds, evaluations left out; what goes wrong is the reason to skip them."""
    if rounds < 2:
        return Skipped(reason=f"rounds must be at least 2, the first is start-up, got {rounds}")
    for name in ("flwr", "ray"):
        if find_spec(name) is None:
            return Skipped(reason=str(MissingExtra(name, extra="flower")))
    launched = time.time()
    try:
        evaluations = play({**settings, "scheme": PLAIN}, devices=devices, rounds=rounds)
    except (Stopped, OSError) as error:
        return Skipped(reason=" ".join(str(error).split()))
    return timed(evaluations, launched)


def timed(evaluations: Sequence[Evaluation], launched: float) -> Times:
    """What is between the evaluations."""
    first, *later = (after.began - before.ended for before, after in pairwise(evaluations))
    start_up = evaluations[0].began - launched + first - median(later)
    return Times(start_up=start_up, seconds=tuple(later))


def play(settings: Settings, *, devices: int, rounds: int) -> list[Evaluation]:
    """Run the engine; every evaluation, that of the initial model included."""
    folder = Path(tempfile.mkdtemp(prefix="lossyfl-"))  # short: Ray's sockets lie below it
    try:
        more = {"devices": devices, "rounds": rounds, "out": str(folder)}
        launch(command({**settings, **more}), folder)
        evaluations = read_evaluations(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if len(evaluations) != rounds + 1:
        count = f"{len(evaluations)} evaluations, not {rounds + 1}"
        raise Stopped(f"Flower's engine ended after {count}")
    for each in evaluations[1:]:
        if each.replies != devices:  # a round without some would seem fast
            raise Stopped(f"{each.replies} of {devices} devices replied")
    return evaluations


def command(settings: Settings) -> list[str]:
    """The engine's command line."""
    return [sys.executable, "-m", "benchmarks.flower_simulation", json.dumps(dict(settings))]


def python_path() -> str:
    """PYTHONPATH of child processes, in which they find this package wherever they start."""
    inherited = os.environ.get("PYTHONPATH")
    return os.pathsep.join(filter(None, (str(Path(__file__).parents[1]), inherited)))


def launch(program: Sequence[str], folder: Path) -> None:
    """Run a program; when it ends, or is ended, so does all that it has started.

    folder: for what it says, and for all its temporary files
    """
    complaints = folder / "complaints"
    environment = os.environ | {
        "TMPDIR": str(folder),
        "FLWR_HOME": str(folder / "home"),
        "LOSSYFL_STATE": str(folder / "state"),
        "PYTHONPATH": python_path(),
    }
    # A file, not a pipe: a pipe stays open as long as any process that has inherited it.
    with complaints.open("wb") as err:
        process = subprocess.Popen(
            program,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=err,
            env=environment,
            start_new_session=True,
        )
        try:
            code = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            raise Stopped(f"no end within {SECONDS} s") from None
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if code:
        lines = complaints.read_text(errors="replace").split("\n")
        raise Stopped(next((x for x in reversed(lines) if x.strip()), f"exit code {code}"))


def read_evaluations(folder: Path) -> list[Evaluation]:
    """What our app wrote down in its folder."""
    path = folder / "progress.jsonl"
    lines = path.read_text().splitlines() if path.is_file() else []
    facts = [json.loads(line) for line in lines]
    return [Evaluation(began=f["trained"], ended=f["time"], replies=f["replies"]) for f in facts]
