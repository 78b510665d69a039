"""tau local steps on a device, and what a model is worth on the test set.

A `Trainer` is one process's model, data and optimizer, used for one device after the other. Everything
random comes from streams addressed by seed, round and device, so it does not matter who trains whom,
and in which order.
"""
# pyright: reportUnknownMemberType=false
# torch leaves parameters of some functions without types.

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import Diverged, InputError
from lossyfl.extras import of_extra
from lossyfl.links.base import nothing
from lossyfl.streams import Stream, stream
from lossyfl.tasks.base import Parts, Task
from lossyfl.tasks.flat import FlatModel
from lossyfl.tasks.metrics import Metric
from lossyfl.tasks.optimizers import LocalOptimizer
from lossyfl.tasks.steps import Step
from lossyfl.types import Vector

with of_extra("sim"):
    import torch

CHUNK = 500
"""Samples that are evaluated at once: a fixed number, so that sums are the same for all workers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Local:
    """How a device trains: tau steps of an optimizer on batches of its own samples."""

    tau: int
    batch: int
    optimizer: LocalOptimizer
    step: Step


@dataclass(frozen=True, slots=True, kw_only=True)
class OptimizerMoments:
    """An optimizer's memory: all its vectors one after the other, and the steps taken so far."""

    values: Vector = field(default_factory=nothing)
    steps: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingResult:
    """What local training gave; `theta` and `moments` are views that the next training overwrites."""

    theta: Vector
    loss: float
    moments: OptimizerMoments


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Sums over some test samples; `scores` has one for each of the task's metrics."""

    samples: int
    loss: float
    scores: tuple[float, ...]

    def metrics(self, of: Sequence[Metric]) -> dict[str, float]:
        """The metrics by their names."""
        pairs = zip(of, self.scores, strict=True)
        return {metric.name: metric.of_mean(score / self.samples) for metric, score in pairs}

    def __add__(self, other: "Score") -> "Score":
        return replace(
            self,
            samples=self.samples + other.samples,
            loss=self.loss + other.loss,
            scores=tuple(a + b for a, b in zip(self.scores, other.scores, strict=True)),
        )


def initial_model(task: Task, seed: int) -> FlatModel:
    """The model that a run with this seed starts from."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(_word(stream(seed, purpose="model")))
        return FlatModel(task.model())


class Trainer:
    """One process's model and data."""

    def __init__(self, task: Task, parts: Parts, local: Local, *, seed: int) -> None:
        self.task, self.parts, self.local, self.seed = task, parts, local, seed
        self.model = initial_model(task, seed)
        self._optimizer = local.optimizer.make(self.model.parameter)
        self._train = _tensors(task.train.x, task.train.y)
        self._test = _tensors(task.test.x, task.test.y)

    def train(
        self, device: int, round: int, theta: Vector, moments: OptimizerMoments
    ) -> TrainingResult:
        """Tau steps from `theta` on the device's samples."""
        model, module, task = self.model, self.model.module, self.task
        torch.default_generator.manual_seed(_word(self._stream("dropout", round, device)))
        model.load(theta)
        self._start_optimizer(round, moments)
        module.train()
        batches = self.batches(device, round)
        x, y = self._train
        gradient = model.parameter.grad
        assert gradient is not None
        total = 0.0
        with without_denormals():
            for batch in batches:
                gradient.zero_()
                loss = task.loss(module(task.prepare(x[batch])), y[batch])
                loss.backward()
                self._optimizer.step()
                total += loss.item()
        if not math.isfinite(total):
            raise Diverged(device, round, total)
        return TrainingResult(
            theta=model.read(),
            loss=total / self.local.tau,
            moments=self._read_moments(moments.steps),
        )

    def batches(self, device: int, round: int) -> torch.Tensor:
        """The samples of every step, (tau, batch): the device's own, shuffled, over and over."""
        part, local = self.parts[device], self.local
        needed = local.tau * local.batch
        passes = -(-needed // len(part))
        bits = self._stream("batch", round, device).bits(0, passes * len(part))
        order = np.argsort(bits.reshape(passes, len(part)), axis=1, kind="stable").ravel()
        return torch.from_numpy(part[order[:needed]].reshape(local.tau, local.batch))

    def evaluate(self, chunk: int, theta: Vector) -> Score:
        """The sums over one chunk of the test set."""
        self.model.load(theta)
        self.model.module.eval()
        part = slice(chunk * CHUNK, (chunk + 1) * CHUNK)
        x, y = (tensor[part] for tensor in self._test)
        with torch.inference_mode(), without_denormals():
            outputs = self.model.module(self.task.prepare(x))
            loss = self.task.loss(outputs, y).item() * len(x)
            scores = tuple(
                loss if metric.score is None else float(metric.score(outputs, y))
                for metric in self.task.metrics
            )
        return Score(samples=len(x), loss=loss, scores=scores)

    def _stream(self, purpose: str, round: int, device: int) -> Stream:
        return stream(self.seed, purpose=purpose, round=round, device=device)

    def _start_optimizer(self, round: int, moments: OptimizerMoments) -> None:
        """Set the step size, and the memory if there is any."""
        self._optimizer.param_groups[0]["lr"] = self.local.step.at(round)
        self._optimizer.state.clear()
        if moments.steps:
            names = self.local.optimizer.buffers
            values = torch.from_numpy(moments.values).chunk(len(names))
            state = {name: part.clone() for name, part in zip(names, values, strict=True)}
            state["step"] = torch.tensor(float(moments.steps))
            self._optimizer.state[self.model.parameter] = state

    def _read_moments(self, before: int) -> OptimizerMoments:
        """The memory after the steps of a round, where it outlives the round."""
        names = self.local.optimizer.buffers
        if self.local.optimizer.moments == "reset" or not names:
            return OptimizerMoments()
        state = self._optimizer.state[self.model.parameter]
        values = torch.cat([state[name] for name in names]).numpy()
        return OptimizerMoments(values=values, steps=before + self.local.tau)


@contextmanager
def without_denormals() -> Generator[None]:
    """Floats below 1e-38 are zero within, on this thread.

    A device with one class soon has gradients that small, and processors take many times as long for them.
    Not beyond training: server and devices agree on every bit of an estimate, small ones too.
    """
    torch.set_flush_denormal(True)
    try:
        yield
    finally:
        torch.set_flush_denormal(False)


def common_length(local: Local, entries: int) -> int:
    """The entries of an optimizer's memory that outlives a round."""
    kept = local.optimizer.moments != "reset"
    return entries * len(local.optimizer.buffers) if kept else 0


def moments_length(local: Local, entries: int) -> int:
    """Those of them that every device keeps for itself: none where one memory is carried through all."""
    return 0 if local.optimizer.moments == "carried" else common_length(local, entries)


def chunks(task: Task) -> int:
    """How many chunks the test set has."""
    return -(-len(task.test) // CHUNK)


def check_batch(local: Local, parts: Parts, *, natural: bool = False) -> None:
    """Raise if a device has fewer samples than a batch.

    natural: whether the data divide themselves, so that small devices can be left out
    """
    smallest = min(range(len(parts)), key=lambda device: len(parts[device]))
    if local.batch > len(parts[smallest]):
        allowed = f"at most {len(parts[smallest])}, the samples of device {smallest}"
        if natural:
            allowed += f" (the partition natural:least={local.batch} leaves out such devices)"
        raise InputError("batch", of="a run", allowed=allowed, got=local.batch)


def _tensors(x: NDArray[Any], y: NDArray[Any]) -> tuple[torch.Tensor, torch.Tensor]:
    """Samples as tensors, without a copy where they are as torch's losses want them."""
    targets = _tensor(y)
    wanted = torch.float32 if targets.is_floating_point() else torch.int64
    return _tensor(x), targets.to(wanted)


def _tensor(array: NDArray[Any]) -> torch.Tensor:
    """The array with the strides that its shape implies: torch picks kernels by strides."""
    return torch.from_numpy(array.reshape(-1)).view(array.shape)


def _word(chosen: Stream) -> int:
    """A seed for torch's generator."""
    return chosen.a
