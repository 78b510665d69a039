"""An experiment made ready: everything is built and checked here, before anything is written."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lossyfl.errors import InputError
from lossyfl.links.state import arrays_of
from lossyfl.protocol.scheme import Scheme
from lossyfl.protocol.schemes import scheme
from lossyfl.results.experiment import Experiment
from lossyfl.simulation.given import WORDS_ONLY, Given, check_is_word
from lossyfl.simulation.store import StoreShape
from lossyfl.streams import stream
from lossyfl.tasks import Task, task
from lossyfl.tasks.base import Parts, Samples
from lossyfl.tasks.flat import Place
from lossyfl.tasks.optimizers import optimizer
from lossyfl.tasks.partitions import divide, natural
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
    check_is_word(spec, "task")
    chosen = task(spec, data_dir)
    if not isinstance(chosen, Task):  # pyright: ignore[reportUnnecessaryIsInstance]
        allowed = "a function that returns a lossyfl.tasks.Task"
        raise InputError("task", of="a run", allowed=allowed, got=spec)
    return chosen


def resolve(asked: Experiment, chosen: Task) -> Experiment:
    """The experiment with what suits the task; data that come divided stay so unless a partition is said."""
    defaults, parts = chosen.defaults, chosen.parts
    if parts is not None and natural(defaults.partition) is None:
        defaults = replace(defaults, partition="natural")
    resolved = asked.resolved(defaults)
    way = natural(resolved.partition)
    if asked.devices is None and parts is not None and way is not None:
        return replace(resolved, devices=len(way.keep(parts)))
    return resolved


def prepare(asked: Experiment, data_dir: Path | None = None, given: Given = WORDS_ONLY) -> Setup:
    """The experiment, made ready; raises on anything that could not run."""
    if given.scheme is None:
        check_is_word(asked.scheme, "scheme")
        scheme(asked.scheme)  # before the data, which takes longer
    return ready(asked, given.task or load_task(asked.task, data_dir), given.scheme)


def ready(asked: Experiment, chosen_task: Task, given_scheme: Scheme | None = None) -> Setup:
    """The experiment with its task, made ready."""
    chosen_scheme = given_scheme or scheme(asked.scheme)
    resolved = resolve(asked, chosen_task)
    local = Local(
        tau=resolved.tau or 1,
        batch=resolved.batch or 1,
        optimizer=optimizer(resolved.optimizer or ""),
        step=step(str(resolved.lr or "")),
    )
    parts = _parts(resolved, chosen_task)
    check_batch(local, parts, natural=natural(resolved.partition) is not None)
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
    """The samples of every device, as the partition says."""
    _check_samples("train", chosen.train)
    _check_samples("test", chosen.test)
    devices, way = resolved.devices or 1, natural(resolved.partition)
    if way is None or chosen.parts is None:
        rng = stream(resolved.seed, purpose="partition")
        return divide(resolved.partition or "", chosen.train.y, devices, rng)
    _check_parts(chosen, chosen.parts)
    parts = way.keep(chosen.parts)
    if len(parts) != devices:
        allowed = f"{len(parts)}, as the data is divided, or left out"
        raise InputError("devices", of=f"the task {chosen.name}", allowed=allowed, got=devices)
    return parts


def _check_parts(chosen: Task, parts: Parts) -> None:
    """Raise if the task's own parts name samples that it does not have."""
    for device, part in enumerate(parts):
        inside = len(part) and min(part) >= 0 and max(part) < len(chosen.train)
        if not inside or not np.issubdtype(np.asarray(part).dtype, np.integer):
            what = f"samples of device {device}"
            allowed = f"at least one, whole numbers in [0, {len(chosen.train)})"
            raise InputError(
                what, of=f"the task {chosen.name}", allowed=allowed, got=str(part)[:60]
            )


def _check_samples(name: str, samples: Samples) -> None:
    if not len(samples) or len(samples.x) != len(samples.y):
        got = f"{len(samples.x)} and {len(samples.y)}"
        allowed = "as many inputs as targets, at least one"
        raise InputError(f"{name} samples", of="a task", allowed=allowed, got=got)
