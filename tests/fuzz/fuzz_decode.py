"""Decode mutated frames: only errors, no crash, no hang, no wrong vector behind a valid checksum.

    make fuzz                                              a million frames
    python -m tests.fuzz.fuzz_decode --frames 10000 --seed 3

Half of the frames are damaged and left so: every one must be refused. The other half is damaged
and sealed again with a valid checksum, as a hostile sender would: each must be refused with a
FrameError or give finite floats of the number it claims.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from tests.golden.cases import CASES
from tests.helpers import seal

from lossyfl import FrameError, decode

MAX_ENTRIES = 200_000
GOLDEN = Path(__file__).parents[1] / "golden"


@dataclass
class Outcome:
    """How many frames were refused, and how many hostile ones decoded."""

    refused: int = 0
    decoded: int = 0
    slowest: float = 0.0
    reasons: dict[str, int] = field(default_factory=dict)


def flip_bits(data: bytearray, rng: np.random.Generator) -> None:
    for place in rng.integers(0, len(data), rng.integers(1, 9)):
        data[place] ^= 1 << int(rng.integers(0, 8))


def overwrite(data: bytearray, rng: np.random.Generator) -> None:
    start = int(rng.integers(0, len(data)))
    length = int(rng.integers(1, 17))
    data[start : start + length] = rng.bytes(min(length, len(data) - start))


def extreme_field(data: bytearray, rng: np.random.Generator) -> None:
    """Header and table fields are where the lies are."""
    start = int(rng.integers(0, min(80, len(data))))
    data[start : start + 4] = [b"\xff" * 4, b"\x00" * 4, b"\x00\x00\xc0\x7f"][
        int(rng.integers(0, 3))
    ]


def truncate(data: bytearray, rng: np.random.Generator) -> None:
    del data[int(rng.integers(0, len(data))) :]


def extend(data: bytearray, rng: np.random.Generator) -> None:
    data += rng.bytes(int(rng.integers(1, 40)))


def duplicate(data: bytearray, rng: np.random.Generator) -> None:
    start, stop = sorted(rng.integers(0, len(data), 2).tolist())
    data[start:start] = data[start:stop]


MUTATIONS: tuple[Callable[[bytearray, np.random.Generator], None], ...] = (
    flip_bits, overwrite, extreme_field, truncate, extend, duplicate,
)  # fmt: skip


def fuzz(count: int, seed: int, *, progress: bool = False) -> Outcome:
    """Decode `count` mutated frames; anything but the expected raises here."""
    rng = np.random.default_rng(seed)
    frames = [(GOLDEN / f"{case.name}.lfl").read_bytes() for case in CASES]
    outcome = Outcome()
    for number in range(count):
        frame = frames[int(rng.integers(0, len(frames)))]
        hostile = bool(rng.integers(0, 2))
        data = bytearray(frame[:-4] if hostile else frame)
        for _ in range(int(rng.integers(1, 3))):
            MUTATIONS[int(rng.integers(0, len(MUTATIONS)))](data, rng)
            data = data or bytearray(b"\x00")
        mutated = seal(bytes(data)) if hostile else bytes(data)
        if mutated == frame:
            continue
        start = time.perf_counter()
        try:
            x = decode(mutated, max_entries=MAX_ENTRIES)
        except FrameError as error:
            outcome.refused += 1
            reason = str(error).partition("expected ")[2].split(",")[0][:40]
            outcome.reasons[reason] = outcome.reasons.get(reason, 0) + 1
        else:
            assert hostile, f"frame {number} of seed {seed}: damage behind a valid checksum"
            claimed = int.from_bytes(mutated[8:16], "little")
            assert len(x) == claimed <= MAX_ENTRIES
            assert np.isfinite(x).all()
            outcome.decoded += 1
        outcome.slowest = max(outcome.slowest, time.perf_counter() - start)
        if progress and number % 100_000 == 99_999:
            print(f"{number + 1:,} frames", flush=True)
    return outcome


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    outcome = fuzz(arguments.frames, arguments.seed, progress=True)
    print(
        f"{outcome.refused:,} refused, {outcome.decoded:,} hostile frames decoded to finite floats"
    )
    print(f"slowest: {1000 * outcome.slowest:.1f} ms")


if __name__ == "__main__":
    main()
