"""An experiment made ready: everything is built and checked here, before anything is written."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lossyfl.errors import InputError
from lossyfl.links.state import arrays_of
from lossyfl.protocol.scheme import Scheme
from lossyfl.protocol.schemes import scheme
from lossyfl.results.experiment import Experiment
from lossyfl.simulation.store import StoreShape
from lossyfl.streams import stream
from lossyfl.tasks import Task, task
from lossyfl.tasks.base import Parts, Samples
from lossyfl.tasks.flat import Place
from lossyfl.tasks.optimizers import optimizer
from lossyfl.tasks.partitions import divide
from lossyfl.tasks.steps import step
from lossyfl.tasks.training import (
    Local,
    check_batch,
    common_length,
    initial_model,
    moments_length,
)
from lossyfl.types import Shape, Vector


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What a run works with.

    experiment: as resolved for the task
    rounds:     how many
    parts:      the samples of every device
    theta:      the model at the start
    places:     its tensors
    """

    experiment: Experiment
    rounds: int
    task: Task
    parts: Parts
    scheme: Scheme
    local: Local
    theta: Vector
    places: tuple[Place, ...]

    @property
    def devices(self) -> int:
        """How many devices there are: the paper's M."""
        return len(self.parts)

    @property
    def tensors(self) -> tuple[Shape, ...]:
        """The shapes of the model's tensors."""
        return tuple(place.shape for place in self.places)

    @property
    def shape(self) -> StoreShape:
        """How large the devices' store is."""
        uplink = self.scheme.uplink.init(self.theta)
        return StoreShape(
            devices=self.devices,
            uplink={name: len(vector) for name, vector in arrays_of(uplink).items()},
            moments=moments_length(self.local, self._trained),
        )

    @property
    def common(self) -> int:
        """The entries of moments that lie in memory for all workers."""
        return common_length(self.local, self._trained)

    @property
    def _trained(self) -> int:
        """The entries of the model that have gradients."""
        return sum(place.stop - place.start for place in self.places if place.trained)


def load_task(spec: str, data_dir: Path | None = None) -> Task:
    """The task of a run; raises if it is none."""
    chosen = task(spec, data_dir)
    if not isinstance(chosen, Task):  # pyright: ignore[reportUnnecessaryIsInstance]
        allowed = "a function that returns a lossyfl.tasks.Task"
        raise InputError("task", of="a run", allowed=allowed, got=spec)
    return chosen


def prepare(asked: Experiment, data_dir: Path | None = None) -> Setup:
    """The experiment, made ready; raises on anything that could not run."""
    scheme(asked.scheme)  # before the data, which takes longer
    return ready(asked, load_task(asked.task, data_dir))


def ready(asked: Experiment, chosen_task: Task) -> Setup:
    """The experiment with its task, made ready."""
    chosen_scheme = scheme(asked.scheme)
    resolved = asked.resolved(chosen_task.defaults)
    local = Local(
        tau=resolved.tau or 1,
        batch=resolved.batch or 1,
        optimizer=optimizer(resolved.optimizer or ""),
        step=step(resolved.lr or ""),
    )
    parts = _parts(resolved, chosen_task)
    check_batch(local, parts)
    model = initial_model(chosen_task, resolved.seed)
    rounds = resolved.rounds or 1
    chosen_scheme.check(model.tensors, rounds)  # before anything is written
    return Setup(
        experiment=resolved,
        rounds=rounds,
        task=chosen_task,
        parts=parts,
        scheme=chosen_scheme,
        local=local,
        theta=model.read().copy(),
        places=model.places,
    )


def _parts(resolved: Experiment, chosen: Task) -> Parts:
    """The task's own parts, or those of the partition."""
    _check_samples("train", chosen.train)
    _check_samples("test", chosen.test)
    devices = resolved.devices or 1
    if chosen.parts is None:
        rng = stream(resolved.seed, purpose="partition")
        return divide(resolved.partition or "", chosen.train.y, devices, rng)
    if len(chosen.parts) != devices:
        allowed = f"{len(chosen.parts)}, as the data is divided"
        raise InputError("devices", of=f"the task {chosen.name}", allowed=allowed, got=devices)
    for device, part in enumerate(chosen.parts):
        inside = len(part) and min(part) >= 0 and max(part) < len(chosen.train)
        if not inside or not np.issubdtype(np.asarray(part).dtype, np.integer):
            what = f"samples of device {device}"
            allowed = f"at least one, whole numbers in [0, {len(chosen.train)})"
            raise InputError(
                what, of=f"the task {chosen.name}", allowed=allowed, got=str(part)[:60]
            )
    return chosen.parts


def _check_samples(name: str, samples: Samples) -> None:
    if not len(samples) or len(samples.x) != len(samples.y):
        got = f"{len(samples.x)} and {len(samples.y)}"
        allowed = "as many inputs as targets, at least one"
        raise InputError(f"{name} samples", of="a task", allowed=allowed, got=got)
