"""What shapes of tensors save in a training: real bytes of the same symbols, coded with and without them.

    python -m scripts.shapes digits --devices 10 --lr 0.1
    LOSSYFL_DATA=folder python -m scripts.shapes mnist --devices 40 --tau 4 --batch 20 --partition paper

Every frame of a run is made twice, and so is every frame within a budget: with shapes, as it travels, and
without. Prints bytes of all frames of a direction, and the mean of the relative error of quantizing. The
initial model, which travels exactly or once, is left out.

With `--same`, symbols are those that are chosen without shapes: every vector is that of order-0 frames within
the same budget, which is checked, and so is the training.
"""

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from lossyfl import scheme
from lossyfl.compressors.base import AbstractWrapper, Compressor, SendContext, packed
from lossyfl.compressors.budgeted import Budget
from lossyfl.results.directory import Results
from lossyfl.results.experiment import Experiment
from lossyfl.simulation.run_loop import RunLoop
from lossyfl.simulation.setup import prepare
from lossyfl.simulation.watcher import Silent
from lossyfl.types import Quantized, Vector
from lossyfl.wire.codec import decode
from lossyfl.wire.shapes import lengths_of
from lossyfl.wire.values import values
from lossyfl.wire.vectors import nmse

SCHEMES = (
    "lfl:q1=2,q2=2",
    "lfl:q1=5,q2=5,scale=tensor",
    "lean:down_budget=0.3bit,up_budget=0.3bit",
    "lean:down=deadzone(target=0.3bit),up=deadzone(target=0.3bit)",
)


@dataclass(slots=True)
class Sums:
    """Bytes of frames with shapes, of the same symbols without them, and of a budget without them; errors."""

    frames: int = 0
    shaped: int = 0
    plain: int = 0
    errors: list[float] = field(default_factory=list[float])
    plain_errors: list[float] = field(default_factory=list[float])

    def line(self, name: str) -> str:
        """All of it, for a direction."""
        saved = 100 * (1 - self.shaped / self.plain)
        said = f"  {name:5} {self.frames:5} frames {self.plain:10,} B without shapes {self.shaped:10,} B with"
        error, plain = np.mean(self.errors), np.mean(self.plain_errors)
        return f"{said} -{saved:.1f} %   nmse {plain:.4f} without {error:.4f} with"


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched(AbstractWrapper):
    """Makes every frame as the inner compressor does, and notes what it would be without shapes."""

    sums: Sums
    same: bool

    @property
    def damped(self) -> bool:
        """As the inner compressor."""
        return self.inner.damped

    def make(self, x: Vector, context: SendContext) -> tuple[Quantized, bytes]:
        """What the inner compressor makes."""
        if self.same:
            return self._make_same(x, context)
        made, frame = self.inner.make(x, context)
        sums, other = self.sums, made
        sums.frames += 1
        sums.shaped += len(frame)
        sums.plain += len(packed(replace(made, tensors=None), context))
        if has_budget(self.inner):
            other, _ = self.inner.make(x, replace(context, tensors=None))
        sums.errors.append(nmse(x, values(made)))
        sums.plain_errors.append(nmse(x, values(other)))
        return made, frame

    def _make_same(self, x: Vector, context: SendContext) -> tuple[Quantized, bytes]:
        """The symbols that are chosen without shapes, coded with them."""
        assert context.tensors is not None
        made, plain = self.inner.make(x, replace(context, tensors=lengths_of(context.tensors)))
        frame = packed(replace(made, tensors=tuple(context.tensors)), context)
        assert np.array_equal(decode(frame), decode(plain))
        self.sums.frames += 1
        self.sums.shaped += len(frame)
        self.sums.plain += len(plain)
        for errors in (self.sums.errors, self.sums.plain_errors):
            errors.append(nmse(x, values(made)))
        return made, frame


def has_budget(compressor: Compressor) -> bool:
    """Whether frames are made to fill a budget."""
    inner = compressor.inner if isinstance(compressor, AbstractWrapper) else compressor
    return isinstance(inner, Budget)


def watched(link: Any, *, same: bool) -> tuple[Any, Sums]:  # noqa: ANN401
    """A link whose frames are noted."""
    sums = Sums()
    return replace(link, compressor=Watched(inner=link.compressor, sums=sums, same=same)), sums


def measure(asked: Experiment, *, same: bool) -> None:
    """One run, and what it sent."""
    setup = prepare(asked)
    down, down_sums = watched(setup.scheme.downlink, same=same)
    up, up_sums = watched(setup.scheme.uplink, same=same)
    setup = replace(setup, scheme=replace(setup.scheme, downlink=down, uplink=up))
    with tempfile.TemporaryDirectory() as folder:
        results = Results(Path(folder))
        results.create(setup.experiment)
        RunLoop(setup, results, 1, None, frozenset()).go(Silent(), 1e9, None)
    print(f"{asked.task}, {asked.scheme}, {setup.rounds} rounds of {setup.devices} devices")
    print(down_sums.line("down"))
    print(up_sums.line("up"), flush=True)


def arguments(schemes: Sequence[str]) -> argparse.ArgumentParser:
    """What runs are measured: a task, its settings, and schemes, these by default."""
    parser = argparse.ArgumentParser()
    parser.add_argument("task")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--schemes", nargs="+", default=schemes)
    for name, kind in {"devices": int, "tau": int, "batch": int}.items():
        parser.add_argument(f"--{name}", type=kind)
    for name in ("partition", "optimizer", "lr"):
        parser.add_argument(f"--{name}")
    return parser


def main() -> None:
    """Measure every scheme."""
    parser = arguments(SCHEMES)
    parser.add_argument("--same", action="store_true")
    given = vars(parser.parse_args())
    same = given.pop("same")
    for spec in given.pop("schemes"):
        scheme(spec)
        measure(Experiment(scheme=spec, evaluate_every=given["rounds"], **given), same=same)


if __name__ == "__main__":
    main()
