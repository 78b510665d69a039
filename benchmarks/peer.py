"""Flower's simulation engine beside our simulator: the same model, data and steps, two workers each."""

import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console

from benchmarks import flower
from benchmarks.rounds import DIGITS, Comparison
from lossyfl.report.text_table import TextTable
from lossyfl.results.records import read_rounds

SETTINGS: flower.Settings = {
    "task": DIGITS,
    "tau": 4,
    "batch": 16,
    "optimizer": "sgd",
    "lr": "0.01",
    "partition": "iid",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Flower's engine beside ours, two workers each."""

    name: str
    rounds: float
    start_up: float
    flower_round: float
    flower_start_up: float
    own_start_up: float


def against_flower(compared: Sequence[Comparison], console: Console) -> Peer | None:
    """Flower's engine on the digits case, if it can be had."""
    theirs = flower.measure(SETTINGS, devices=40, rounds=12)
    if isinstance(theirs, flower.Skipped):
        console.print(f"Flower is skipped: {theirs.reason}")
        return None
    ours = next(c for c in compared if c.name == "digits CNN")
    mine = median(start_up() for _ in range(3))
    return Peer(
        name="digits CNN",
        rounds=median(theirs.seconds) / (ours.bare * ours.two),
        start_up=theirs.start_up / mine,
        flower_round=median(theirs.seconds),
        flower_start_up=theirs.start_up,
        own_start_up=mine,
    )


def start_up(rounds: int = 5) -> float:
    """Seconds from typing `lossyfl run` to the end of the first round, less a round; as for Flower."""
    with tempfile.TemporaryDirectory() as folder:
        command = [
            *(sys.executable, "-m", "lossyfl", "run", "--task", DIGITS, "--devices", "40"),
            *("--workers", "2", "--rounds", str(rounds), "--quiet", "--out", f"{folder}/out"),
        ]
        written = Path(folder) / "out" / "rounds.jsonl"
        start = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            while not read_rounds(written) and process.poll() is None:
                time.sleep(0.01)
            first = time.perf_counter() - start
        return first - median(record.seconds.total for record in read_rounds(written)[1:])


def sheet(peers: Sequence[Peer]) -> TextTable:
    """Its time over ours."""
    return TextTable(
        title="Flower's simulation engine: its time over ours",
        columns=("", "a round", "goal", "start-up", "goal", "start-up, s", "ours, s"),
        rows=[
            (
                p.name,
                f"{p.rounds:.1f}",
                ">= 2",
                f"{p.start_up:.1f}",
                ">= 10",
                f"{p.flower_start_up:.1f}",
                f"{p.own_start_up:.1f}",
            )
            for p in peers
        ],
    )
