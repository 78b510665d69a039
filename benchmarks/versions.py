"""`lossyfl bench versions`: this version beside another one, which is installed for another Python.

Both run in processes of their own and take turns, job by job, so that whatever else the machine does hits
both; a ratio is the median over the turns. What is timed is in `version_jobs`.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from rich.console import Console

from benchmarks.other_python import OtherPython
from benchmarks.output import publish
from lossyfl.report.text_table import TextTable

JOBS = Path(__file__).with_name("version_jobs.py")
CODED = (
    *(f"stochastic:levels={levels}" for levels in (1, 2, 5, 50, 1000)),
    "sign", "natural", "qsgd:levels=64", "eden:bits=2",
    "deadzone:target=0.5bit", "dithered:target=2bit", "sparse_ternary:target=0.5bit", "topk:target=0.5bit",
)  # fmt: skip
ROUNDS = ("lossless", "lb:q2=2", "lfl:q1=2,q2=2", "lgm:q1=2,q2=2", "ltgm:q1=50,q2=2", "lean")
TURNS = {10**4: 101, 10**5: 41, 10**6: 15, 10**7: 5}
SLOWER = 0.95
"""Rows below are named at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """How many times as fast this version does a job as the other; why not, where it does not."""

    kind: str
    entries: int
    spec: str
    ratio: float
    best: float
    failed: str = ""


def run(other: str, json_file: Path | None, *, quick: bool, console: Console) -> None:
    """Measure, print the table, and write everything to the file."""
    results: list[Speed] = []
    with version(sys.executable) as here, version(other) as there:
        for entries in list(TURNS)[:2] if quick else TURNS:
            for kind, specs in (("encode", CODED), ("decode", CODED), ("round", ROUNDS)):
                with console.status(f"{kind}, {entries:,} entries"):
                    results += [measure(here, there, kind, entries, spec) for spec in specs]
    publish({"results": results}, [_sheet(results)], json_file=json_file, console=console)
    slow = [each for each in results if not each.failed and each.ratio < SLOWER]
    named = ", ".join(f"{each.kind} {each.spec} ({each.entries:,})" for each in slow)
    console.print(f"below {SLOWER} of the other's speed: {named or 'none'}")


def version(python: str) -> OtherPython:
    """A Python with some version of lossyfl, which does jobs."""
    return OtherPython(python, JOBS, of="bench versions", needs="lossyfl")


def measure(here: OtherPython, there: OtherPython, kind: str, entries: int, spec: str) -> Speed:
    """One job, in turns."""
    times: list[tuple[float, float]] = []
    for _ in range(TURNS.get(entries, 5)):
        ours, theirs = (each.ask(kind, entries, spec) for each in (here, there))
        if not (isinstance(ours, float) and isinstance(theirs, float)):
            failed = f"other: {theirs}" if isinstance(ours, float) else f"this: {ours}"
            return Speed(kind=kind, entries=entries, spec=spec, ratio=0, best=0, failed=failed)
        times.append((ours, theirs))
    return Speed(
        kind=kind,
        entries=entries,
        spec=spec,
        ratio=median(theirs / ours for ours, theirs in times),
        best=min(theirs for _, theirs in times) / min(ours for ours, _ in times),
    )


def _sheet(results: list[Speed]) -> TextTable:
    rows = [
        (
            each.kind,
            f"{each.entries:,}",
            each.spec,
            each.failed or f"{each.ratio:.2f}",
            "" if each.failed else f"{each.best:.2f}",
        )
        for each in results
    ]
    columns = ("job", "entries", "quantizer or scheme", "median", "of the fastest turns")
    return TextTable(
        title="Speed as a multiple of the other version's, one thread", columns=columns, rows=rows
    )
