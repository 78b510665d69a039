"""What symbols chosen by class save: bytes at the same error, and how fast frames are made and read.

    python -m scripts.cells_by_class --task mnist

Ten devices with a class each train a few rounds, exactly averaged; the last round's update of the first
device is a reply, their mean a broadcast. Between the frames of `deadzone` without the choice, coded by
class all the same, bytes at an error are interpolated in their logarithm.
"""

import argparse
from dataclasses import dataclass
from functools import partial

import numpy as np
from rich.console import Console

from benchmarks.timing import Job, ratio, side_by_side
from lossyfl.quantizers import quantizer
from lossyfl.streams import Stream, stream
from lossyfl.tasks import task
from lossyfl.tasks.optimizers import optimizer
from lossyfl.tasks.partitions import divide
from lossyfl.tasks.steps import step
from lossyfl.tasks.training import Local, OptimizerMoments, Trainer
from lossyfl.types import Bounds, Quantized, Quantizer, Scale, Shape, Vector
from lossyfl.wire.codec import decode, encode

RATES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.2, 2.0)
CURVE = np.geomspace(0.02, 5, 30)
DEVICES, REPEATS = 10, 9


@dataclass(frozen=True, slots=True, kw_only=True)
class ShapelessQuantizer:
    """A quantizer that takes no account of shapes, even if it could."""

    inner: Quantizer
    scale: Scale = "model"
    unbiased = False

    def quantize(self, x: Vector, bounds: Bounds, *, rng: Stream, threads: int = 1) -> Quantized:
        """As the inner one does."""
        return self.inner.quantize(x, bounds, rng=rng, threads=threads)

    def error_bound(self, entries: int) -> float | None:
        """As the inner one does."""
        return self.inner.error_bound(entries)

    def nominal_bits(self, entries: int, blocks: int) -> float:
        """As the inner one does."""
        return self.inner.nominal_bits(entries, blocks)


def vectors(name: str, rounds: int) -> tuple[dict[str, Vector], list[Shape]]:
    """A broadcast and a reply, and the shapes of their tensors."""
    chosen = task(name)
    parts = divide("paper", chosen.train.y, DEVICES, stream(0, purpose="partition"))
    local = Local(tau=10, batch=20, optimizer=optimizer("sgd"), step=step("0.05"))
    trainer = Trainer(chosen, parts, local, seed=0)
    theta: Vector = trainer.model.read().copy()
    updates = list[Vector]()
    for turn in range(rounds):
        none = OptimizerMoments()
        updates = [trainer.train(m, turn, theta, none).theta - theta for m in range(DEVICES)]
        theta = theta + _mean(updates)
    return {"broadcast": _mean(updates), "reply": updates[0]}, [
        p.shape for p in trainer.model.places
    ]


def _mean(updates: list[Vector]) -> Vector:
    total = np.zeros(len(updates[0]))
    for each in updates:
        total += each
    return (total / len(updates)).astype(np.float32)


def point(x: Vector, chosen: Quantizer, shapes: list[Shape]) -> tuple[int, float]:
    """Bytes and relative error of a frame."""
    frame = encode(x, chosen, rng=stream(0), tensors=shapes)
    error = decode(frame).astype(np.float64) - x
    return len(frame), float(error @ error / np.square(x, dtype=np.float64).sum())


def compare(name: str, x: Vector, shapes: list[Shape], console: Console) -> None:
    """Print a line for every rate."""
    found = [
        point(x, ShapelessQuantizer(inner=quantizer(f"deadzone:target={r}bit")), shapes)
        for r in CURVE
    ]
    sizes, errors = np.array([size for size, _ in found]), np.array([error for _, error in found])
    for rate in RATES:
        chosen = quantizer(f"deadzone:target={rate}bit")
        without = ShapelessQuantizer(inner=chosen)
        size, error = point(x, chosen, shapes)
        if not errors[-1] <= error <= errors[0]:
            continue
        same = float(np.exp(np.interp(-error, -errors, np.log(sizes))))
        jobs: dict[str, Job] = {
            "with": partial(point, x, chosen, shapes),
            "without": partial(point, x, without, shapes),
        }
        speed = ratio(side_by_side(jobs, REPEATS), "without", "with")
        console.print(
            f"{name:10} {rate:4} bit {size:7,} B, error {error:.4f}:"
            f" {size / same:.3f}x the bytes, {speed:.2f}x the speed"
        )


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", default="digits")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    found, shapes = vectors(given.task, given.rounds)
    for name, x in found.items():
        compare(name, x, shapes, Console(highlight=False, width=110))


if __name__ == "__main__":
    main()
