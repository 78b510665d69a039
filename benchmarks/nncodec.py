"""`lossyfl bench nncodec`: class-coded frames beside NNCodec's bitstreams, ISO/IEC 15938-17, second edition.

Both code the same updates (`updates`): ours as `deadzone` at several rates with the shapes of the tensors,
NNCodec's with a step size for which the error is the same (`equal_error`). Sizes are real bytes, everything
included, errors are of what was decoded. NNCodec runs in a Python of its own, which does jobs in turns with
this one; its search for the step is not timed, ours is part of making a frame.
"""

import json
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import median
from typing import cast

import numpy as np
from rich.console import Console

from benchmarks import nncodec_build, nncodec_tables
from benchmarks.equal_error import Coded, Settings
from benchmarks.nncodec_tables import BEST, Point, Speed
from benchmarks.other_python import OtherPython
from benchmarks.updates import FOLDER, QUICK, SOURCES, Source, Update, updates
from lossyfl import decode, encode, quantizer, stream
from lossyfl.errors import InputError
from lossyfl.results import machine
from lossyfl.wire.vectors import nmse

JOBS = Path(__file__).with_name("nncodec_jobs.py")
RATES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2.0)
TIMED = (0.1, 0.5, 2.0)
TURNS = 7
QPS = (-128, 60)
"""Step sizes, 2^(qp / 4) about: from the finest that its header can say to steps of 2^15."""
TOOLS: dict[str, dict[str, object]] = {
    BEST: {"use_dq": True, "lambda_scale": 1.0},
    "no rate-distortion": {"use_dq": True, "lambda_scale": 0.0},
    "no trellis": {"use_dq": False, "lambda_scale": 1.0},
    "temporal": {"use_dq": True, "lambda_scale": 1.0},
}
"""What NNCodec is asked for; `temporal` also gives it the update of the round before."""


def run(
    python: str | None,
    build: Path | None,
    json_file: Path | None,
    markdown_file: Path | None,
    *,
    quick: bool,
    console: Console,
) -> None:
    """Measure, print the tables, and write everything to the files."""
    if python is None:
        try:
            with console.status("building NNCodec"):
                python = nncodec_build.build(build or FOLDER.parent / "nncodec")
        except InputError as error:
            console.print(f"skipped, NNCodec cannot be had here: {error}")
            return
    nncodec_build.check(python)
    chosen = list(_chosen(QUICK if quick else SOURCES, console))
    points, speeds = measure(python, chosen, console)
    facts = machine.describe() | {"nncodec": nncodec_build.PACKAGE}
    if json_file is not None:
        report = {
            "machine": facts,
            "points": [asdict(point) for point in points],
            "speeds": [asdict(speed) for speed in speeds],
        }
        json_file.write_text(json.dumps(report, indent=1) + "\n")
    sheets = nncodec_tables.tables(points, speeds)
    said = nncodec_tables.summary(points, speeds)
    if markdown_file is not None:
        tables = "\n\n".join(sheet.markdown() for sheet in sheets)
        markdown_file.write_text(f"{tables}\n\n" + "".join(f"- {line}\n" for line in said))
    for name, fact in facts.items():
        console.print(f"{name:13} {fact}")
    for sheet in sheets:
        sheet.show(console)
    for line in said:
        console.print(line)


def _chosen(sources: tuple[Source, ...], console: Console) -> Iterator[Update]:
    for source in sources:
        with console.status(f"updates of {source.name}, trained where they are not kept"):
            yield from updates(source, FOLDER)


def measure(python: str, chosen: list[Update], console: Console) -> tuple[list[Point], list[Speed]]:
    """Sizes, as many updates at a time as there are sources, then speeds, one job at a time."""
    middle = {
        update.source: sorted(u.round for u in chosen if u.source == update.source)
        for update in chosen
    }
    some = [u for u in chosen if u.round == middle[u.source][len(middle[u.source]) // 2]]
    with tempfile.TemporaryDirectory() as folder, console.status("sizes") as status:
        at_once = len({update.source for update in chosen})
        with ThreadPoolExecutor(at_once) as pool:
            jobs = [
                pool.submit(sizes, python, update, Path(folder), all_tools=update in some)
                for update in chosen
            ]
            found = [job.result() for job in jobs]
        status.update("speeds")
        points = [point for each, _ in found for point in each]
        speeds = list[Speed]()
        with other(python) as there:
            for update, (_, qps) in zip(chosen, found, strict=True):
                if update in some:
                    speeds += [
                        speed(there, update, Path(folder), rate, qps[rate]) for rate in TIMED
                    ]
    return points, speeds


def other(python: str) -> OtherPython:
    """The Python that has NNCodec."""
    return OtherPython(python, JOBS, of="bench nncodec", needs="nncodec")


def sizes(
    python: str, update: Update, folder: Path, *, all_tools: bool
) -> tuple[list[Point], dict[float, int]]:
    """Bytes of both at every rate, and the step sizes that NNCodec needs for it."""
    x, points, qps = update.vector, list[Point](), dict[float, int]()
    with other(python) as there:
        codes = {
            name: Settings(
                code=partial(_theirs, there, update, folder, name),
                first=_guess(x),
                least=QPS[0],
                most=QPS[1],
            )
            for name in (TOOLS if all_tools else (BEST,))
        }
        for rate in reversed(RATES):
            frame = _ours(update, rate)()
            lost = nmse(x, decode(frame, max_entries=len(x)))
            found = {name: code.bytes_at(lost) for name, code in codes.items()}
            qps[rate] = found[BEST][1]
            points.append(
                Point(
                    source=update.source,
                    sent=update.sent,
                    round=update.round,
                    entries=len(x),
                    rate=rate,
                    nmse=lost,
                    ours=len(frame),
                    theirs={name: nbytes for name, (nbytes, _) in found.items()},
                )
            )
    return points[::-1], qps


def _ours(update: Update, rate: float) -> Callable[[], bytes]:
    chosen = quantizer(f"deadzone:target={rate}bit")
    return lambda: encode(update.vector, chosen, rng=stream(0), tensors=update.shapes)


def _theirs(there: OtherPython, update: Update, folder: Path, tool: str, qp: int) -> Coded:
    answer = _asked(there, update, folder, tool, qp)
    return Coded(nbytes=answer["nbytes"], nmse=answer["nmse"])


def _asked(
    there: OtherPython, update: Update, folder: Path, tool: str, qp: int
) -> dict[str, float]:
    before = _saved(update, folder, before=True) if tool == "temporal" else None
    answer = there.ask(_saved(update, folder), before, TOOLS[tool] | {"qp": qp})
    if not isinstance(answer, dict):
        raise InputError("nncodec", of="bench nncodec", allowed="able to code it", got=str(answer))
    return cast("dict[str, float]", answer)


def _saved(update: Update, folder: Path, *, before: bool = False) -> str:
    """The folder with the tensors of an update, as NNCodec's process reads them."""
    name = f"{update.source}-{update.sent}-{update.round}"
    out = folder / (f"{name}-before" if before else name)
    if not out.exists():
        out.mkdir()
        for at, tensor in enumerate(update.tensors(update.before if before else update.vector)):
            np.save(out / f"{at}.npy", tensor)
    return str(out)


def _guess(x: np.ndarray) -> int:
    """A fine step size to begin with, an eighth of the root mean square."""
    return int(4 * np.log2(np.sqrt(np.mean(x.astype(np.float64) ** 2)) / 8))


def speed(there: OtherPython, update: Update, folder: Path, rate: float, qp: int) -> Speed:
    """How many times as fast as NNCodec we make a frame and read it: the median over the turns."""
    ours, frame = _ours(update, rate), _ours(update, rate)()
    turns = list[tuple[float, float]]()
    for _ in range(TURNS):
        start = time.perf_counter()
        ours()
        middle = time.perf_counter()
        decode(frame, max_entries=len(update.vector))
        end = time.perf_counter()
        answer = _asked(there, update, folder, BEST, qp)
        turns.append((answer["encode"] / (middle - start), answer["decode"] / (end - middle)))
    return Speed(
        source=update.source,
        sent=update.sent,
        rate=rate,
        encode=median(encode for encode, _ in turns),
        decode=median(decode for _, decode in turns),
    )
