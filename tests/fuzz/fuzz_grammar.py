"""Read frames from the grammar in every way there is: one verdict, and nothing but finite floats.

    make fuzz                                              a million frames
    python -m tests.fuzz.fuzz_grammar --frames 10000 --seed 3 --json summary.json
    python -m tests.fuzz.fuzz_grammar --seed 3 --only 4711

`decode`, `inspect` and what adds a frame to a sum all refuse a frame with a FrameError, or all take it and
agree about it. A frame without faults gives the floats that the document says, or is refused where these are
not finite. Anything else, a warning too, is a finding: it is printed with seed, number and bytes. Frame n of
a seed depends on nothing else, so the counts are the same on any number of workers.
"""

import argparse
import json
import os
import re
import sys
import time
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat
from pathlib import Path

import numpy as np
from tests.fuzz.choices import Choices
from tests.fuzz.grammar import Made, Place, make_frame

from lossyfl import FrameError, decode, inspect
from lossyfl.types import Vector
from lossyfl.wire.adding import open_addend
from lossyfl.wire.facts import facts
from lossyfl.wire.header import HARD_LIMIT

MAX_ENTRIES = 1 << 17
CHUNK = 5000
"""Frames that a worker makes at a time."""


@dataclass
class Outcome:
    """How frames were read.

    right:   without faults, and read to the floats that they stand for
    read:    in spite of faults: these changed nothing that can be wrong
    refused: by what was expected of them
    """

    frames: int = 0
    right: int = 0
    read: int = 0
    refused: Counter[str] = field(default_factory=Counter[str])
    findings: list[str] = field(default_factory=list[str])

    def add(self, other: "Outcome") -> None:
        """Count those of another part too."""
        self.frames += other.frames
        self.right += other.right
        self.read += other.read
        self.refused += other.refused
        self.findings += other.findings


class WrongError(AssertionError):
    """A frame that was read in a way that it must not be."""


def made(seed: int, number: int) -> Made:
    """Frame `number` of a seed."""
    choices = Choices(seed << 40 | number)
    return make_frame(choices, Place(entries=choices.rng.choice((1, 2, 5, 16, 40))))


def fuzz(seed: int, numbers: range) -> Outcome:
    """Read these frames; warnings count as errors."""
    outcome = Outcome()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for number in numbers:
            one = made(seed, number)
            outcome.frames += 1
            try:
                reason = check(one)
            except Exception as error:  # whatever it is, it is what is looked for
                about = f"{type(error).__name__}: {error}"
                where = f"seed {seed}, frame {number}, faults {one.faults}"
                outcome.findings.append(f"{about} ({where}) {one.frame.hex()}")
                continue
            if reason is not None:
                outcome.refused[reason] += 1
            elif one.faults:
                outcome.read += 1
            else:
                outcome.right += 1
    return outcome


def check(one: Made) -> str | None:
    """Why the frame is refused, None where it is read; raises where ways of reading differ."""
    try:
        x = decode(one.frame, max_entries=MAX_ENTRIES)
    except FrameError as error:
        _check_refused(one, error)
        return re.sub(r"(checksum )\w+|\b\d+", r"\1n", error.expected)
    _check_same(one, x)
    if not one.faults and not np.array_equal(x, one.values):
        raise WrongError(f"decoded to {x[:4]}, stands for {one.values[:4]}")
    return None


def _check_refused(one: Made, error: FrameError) -> None:
    """Every way of reading refuses it for the same reason, and there is one."""
    if one.finite and not one.faults:
        raise WrongError(f"a right frame is refused: {error}")
    for read in (inspect, open_addend):
        try:
            read(one.frame, max_entries=MAX_ENTRIES)
        except FrameError as other:
            if str(other) != str(error):
                raise WrongError(f"{read.__name__} says {other}, decode {error}") from None
        else:
            raise WrongError(f"{read.__name__} reads what decode refuses: {error}")


def _check_same(one: Made, x: Vector) -> None:
    """Every way of reading gives these finite floats."""
    if x.dtype != np.float32 or not np.isfinite(x).all():
        raise WrongError(f"decoded to {x.dtype}, {x[~np.isfinite(x)][:4]}")
    info = inspect(one.frame, max_entries=MAX_ENTRIES)
    addend = open_addend(one.frame, max_entries=MAX_ENTRIES)
    total = np.zeros(len(x), dtype=np.float32)
    addend.terms.add_to(total, 1.0)
    known = facts(one.frame)
    lengths = {len(x), info.entries, addend.header.entries, addend.facts.entries, known.entries}
    if lengths != {int.from_bytes(one.frame[8:16], "little")} or len(x) > HARD_LIMIT:
        raise WrongError(f"entries are {lengths}")
    if not np.array_equal(total, x):
        raise WrongError(f"adds {total[:4]}, decodes to {x[:4]}")
    if not float(np.abs(x).max()) <= addend.terms.peak < np.inf:
        raise WrongError(f"the peak is {addend.terms.peak}, the largest {np.abs(x).max()}")
    numbers = [info.entropy_bits, info.bits_per_entry, known.entropy_bits, known.paper_bits]
    if not np.isfinite(numbers).all():
        raise WrongError(f"entropy and sizes are {numbers}")


def fuzz_all(frames: int, seed: int, workers: int) -> Outcome:
    """All frames of a seed, by several processes; findings are printed as they come."""
    outcome, shown = Outcome(), 0
    parts = [range(at, min(at + CHUNK, frames)) for at in range(0, frames, CHUNK)]
    with ProcessPoolExecutor(workers) as pool:
        for part in pool.map(fuzz, repeat(seed), parts):
            outcome.add(part)
            for finding in part.findings:
                print(finding, flush=True)
            if outcome.frames - shown >= 100_000:
                shown = outcome.frames
                print(f"{shown:,} frames, {len(outcome.findings)} findings", flush=True)
    return outcome


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", type=int, help="read this frame alone")
    parser.add_argument("--json", type=Path, help="where to write a summary")
    arguments = parser.parse_args()
    if arguments.only is not None:
        one = made(arguments.seed, arguments.only)
        print(one.frame.hex(), one.faults, check(one) or "read")
        return 0
    start = time.perf_counter()
    outcome = fuzz_all(arguments.frames, arguments.seed, arguments.workers)
    seconds = time.perf_counter() - start
    for reason, count in outcome.refused.most_common():
        print(f"{count:9,} refused: expected {reason}")
    print(
        f"{outcome.frames:,} frames in {seconds:.0f} s: {outcome.right:,} right, {outcome.read:,} "
        f"read in spite of faults, {outcome.refused.total():,} refused, "
        f"{len(outcome.findings)} findings"
    )
    if arguments.json:
        summary = {
            "seed": arguments.seed, "seconds": round(seconds, 1), "frames": outcome.frames,
            "right": outcome.right, "read_in_spite_of_faults": outcome.read,
            "refused": dict(outcome.refused.most_common()), "findings": outcome.findings,
        }  # fmt: skip
        arguments.json.write_text(json.dumps(summary, indent=1) + "\n")
    return 1 if outcome.findings else 0


if __name__ == "__main__":
    sys.exit(main())
