"""`lossyfl bench nncodec`: class-coded frames beside NNCodec's bitstreams, ISO/IEC 15938-17, second edition.

Both code the same updates (`updates`): ours as `deadzone` at several rates with the shapes of the tensors,
NNCodec's with a step size for which the error is the same (`equal_error`). Sizes are real bytes, everything
included, errors are of what was decoded. NNCodec runs in a Python of its own, which does jobs in turns with
this one; its search for the step is not timed, ours is part of making a frame.
"""

import json
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from statistics import median

from rich.console import Console

from benchmarks import nncodec_build, nncodec_tables
from benchmarks.nncodec_kept import Kept
from benchmarks.nncodec_rival import TOOLS, Rival
from benchmarks.nncodec_tables import BEST, PLAIN, Point, Speed
from benchmarks.updates import FOLDER, QUICK, SOURCES, Source, Update, updates
from lossyfl import decode, encode, quantizer, stream
from lossyfl.errors import InputError
from lossyfl.results import machine
from lossyfl.wire.vectors import nmse

RATES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2.0)
TIMED = (0.1, 0.5, 2.0)
TURNS = 5


def run(
    python: str | None,
    build: Path | None,
    json_file: Path | None,
    markdown_file: Path | None,
    *,
    quick: bool,
    console: Console,
    workers: int = 1,
) -> None:
    """Measure, print the tables, and write everything to the files.

    workers: processes with NNCodec, while sizes are measured
    """
    if python is None:
        try:
            with console.status("building NNCodec"):
                python = nncodec_build.build(build or FOLDER.parent / "nncodec")
        except InputError as error:
            console.print(f"skipped, because NNCodec cannot be had: {error}")
            return
    nncodec_build.check(python)
    points, speeds = measure(python, QUICK if quick else SOURCES, console, workers)
    facts = machine.describe() | {"nncodec": nncodec_build.PACKAGE}
    sheets = nncodec_tables.tables(points, speeds)
    said = nncodec_tables.summary(points, speeds)
    if json_file is not None:
        report = {
            "machine": facts,
            "points": [asdict(point) for point in points],
            "speeds": [asdict(speed) for speed in speeds],
        }
        json_file.write_text(json.dumps(report, indent=1) + "\n")
    if markdown_file is not None:
        tables = "\n\n".join(sheet.markdown() for sheet in sheets)
        markdown_file.write_text("".join(f"- {line}\n" for line in said) + f"\n{tables}\n")
    for name, fact in facts.items():
        console.print(f"{name:13} {fact}")
    for sheet in sheets:
        sheet.show(console)
    for line in said:
        console.print(line)


def measure(
    python: str, sources: tuple[Source, ...], console: Console, workers: int
) -> tuple[list[Point], list[Speed]]:
    """Sizes, several updates at a time, then speeds, one job at a time."""
    chosen, middle = list[Update](), list[Update]()
    for source in sources:
        with console.status(f"updates of {source.name}, made where they are not kept"):
            chosen += updates(source, FOLDER)
        middle += [
            each for each in chosen if (each.source, each.round) == (source.name, source.middle)
        ]
    kept = Kept(FOLDER / "nncodec.jsonl")
    with tempfile.TemporaryDirectory() as name, console.status("sizes") as status:
        with ThreadPoolExecutor(workers) as pool:
            jobs = [
                pool.submit(sizes, python, Path(name), kept, update, every_tool=update in middle)
                for update in chosen
            ]
            points = [point for job in jobs for point in job.result()]
        status.update("speeds")
        with Rival(python, Path(name), kept) as rival:
            speeds = [
                speed(rival, update, point, tool)
                for update in middle
                for point in points
                if point.is_of(update) and point.rate in TIMED
                for tool in (BEST, PLAIN)
            ]
    return points, speeds


def sizes(
    python: str, folder: Path, kept: Kept, update: Update, *, every_tool: bool
) -> list[Point]:
    """Bytes of both for an update, at every rate."""
    x, points = update.vector, list[Point]()
    with Rival(python, folder, kept) as rival:
        tools = TOOLS if every_tool else (BEST, PLAIN)
        searches = {tool: rival.search(update, tool) for tool in tools}
        for rate in RATES:
            frame = ours(update, rate)
            lost = nmse(x, decode(frame, max_entries=len(x)))
            points.append(
                Point(
                    source=update.source,
                    sent=update.sent,
                    round=update.round,
                    entries=len(x),
                    rate=rate,
                    nmse=lost,
                    ours=len(frame),
                    theirs={tool: search(lost) for tool, search in searches.items()},
                )
            )
    return points


def ours(update: Update, rate: float) -> bytes:
    """Our frame at a rate: the step is searched for so that symbols without classes take it."""
    chosen = quantizer(f"deadzone:target={rate}bit")
    return encode(update.vector, chosen, rng=stream(0), tensors=update.shapes)


def speed(rival: Rival, update: Update, point: Point, tool: str) -> Speed:
    """How many times as fast as NNCodec we make a frame and read it: medians over the turns."""
    encodes, decodes = list[float](), list[float]()
    for _ in range(TURNS):
        start = time.perf_counter()
        frame = ours(update, point.rate)
        middle = time.perf_counter()
        decode(frame, max_entries=len(update.vector))
        end = time.perf_counter()
        answer = rival.ask(update, tool, point.theirs[tool].options)
        encodes.append(answer["encode"] / (middle - start))
        decodes.append(answer["decode"] / (end - middle))
    return Speed(
        source=point.source,
        sent=point.sent,
        rate=point.rate,
        tool=tool,
        encode=median(encodes),
        decode=median(decodes),
    )
