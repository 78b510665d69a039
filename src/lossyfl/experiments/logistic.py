"""A strongly convex problem with known constants: logistic regression on anybody's samples.

l2-regularised multinomial logistic regression on the training samples of a task, as the task prepares them,
with a constant column; divided among devices by any partition. Its optimum theta*, F*, the smoothness L and
the heterogeneity Gamma = F* - sum_m B_m/B F_m*:

    mu     lambda, a lower bound: log-sum-exp is convex, the regulariser adds lambda
    L      lambda + 1/2 max_m eig(X_m^T X_m / B_m), an upper bound, see `Regression.smoothness`
    theta* found until the gradient is shorter than `regression.PRECISION`: off by at most PRECISION / mu
    Gamma  likewise; every minimum is off by at most PRECISION^2 / (2 mu)
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import InputError
from lossyfl.experiments.regression import Array, Indices, Regression
from lossyfl.extras import require
from lossyfl.streams import stream

if TYPE_CHECKING:
    from lossyfl.tasks.base import Task


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the samples come from, and who has them.

    task:        its training samples are used, its network is not
    samples:     how many of them, drawn at random; all if None
    partition:   which device has which; `natural` as the task says
    regulariser: lambda
    """

    task: str = "digits"
    samples: int | None = None
    partition: str
    devices: int
    regulariser: float
    data_dir: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """theta*, F*, and the constants of the problem that do not depend on the run."""

    theta: Array
    loss: float
    smoothness: float
    heterogeneity: float


@lru_cache(maxsize=2)  # of large data sets it is large
def regression(source: Source) -> Regression:
    """The problem of a source, its samples loaded and divided."""
    from lossyfl.results.experiment import Experiment
    from lossyfl.simulation.setup import load_task, ready

    chosen = _cut(load_task(source.task, source.data_dir), source.samples)
    labels, classes = _classes(chosen)
    # Only its parts are used, and its checks of them; the rest is whatever is least to make.
    asked = Experiment(
        task=source.task,
        scheme="lossless",
        rounds=1,
        devices=source.devices,
        tau=1,
        batch=1,
        partition=source.partition,
    )
    parts = ready(asked, chosen).parts
    x = np.concatenate([_features(chosen, part) for part in parts])
    return Regression(
        x=x,
        squares=np.einsum("nf,nf->n", x, x),
        labels=np.concatenate([labels[part] for part in parts]),
        starts=np.cumsum([0, *(len(part) for part in parts)]),
        classes=classes,
        regulariser=source.regulariser,
    )


def optimum(whole: Regression, tick: Callable[[], object] = lambda: None) -> Optimum:
    """The minimum of F and of every F_m, hence Gamma; and L. `tick` is called after each minimum."""
    with one_thread():
        return _optimum(whole, tick)


def one_thread() -> AbstractContextManager[object]:
    """Sums are the same on any number of cores, and the matrices are mostly too small for several."""
    limits: Callable[..., AbstractContextManager[object]]
    limits = require("threadpoolctl", extra="sim").threadpool_limits
    return limits(1, "blas")


def _optimum(whole: Regression, tick: Callable[[], object]) -> Optimum:
    theta = whole.minimum()
    tick()
    loss, least = whole.loss(theta), 0.0
    for m, share in enumerate(whole.shares):
        alone = whole.device(m)
        least += float(share) * alone.loss(alone.minimum())
        tick()
    return Optimum(
        theta=theta,
        loss=loss,
        smoothness=whole.smoothness(),
        # Never negative; rounding may make it so where the devices are alike.
        heterogeneity=max(0.0, loss - least),
    )


def _cut(task: "Task", samples: int | None) -> "Task":
    """The task with some of its training samples, drawn at random."""
    if samples is None:
        return task
    if task.parts is not None:
        allowed = "left out: the task says which device has which samples"
        raise InputError("samples", of=f"the task {task.name}", allowed=allowed, got=samples)
    if not 1 <= samples <= len(task.train):
        allowed = f"an int in [1, {len(task.train)}], as many as there are for training"
        raise InputError("samples", of=f"the task {task.name}", allowed=allowed, got=samples)
    from lossyfl.tasks.base import Samples

    bits = stream(0, purpose="samples").bits(0, len(task.train))
    chosen = np.sort(np.argsort(bits, kind="stable")[:samples])
    return replace(task, train=Samples(x=task.train.x[chosen], y=task.train.y[chosen]))


def _classes(task: "Task") -> tuple[Indices, int]:
    """The targets as classes from 0 on, and how many there are."""
    y = np.asarray(task.train.y)
    if y.ndim != 1 or not np.issubdtype(y.dtype, np.integer):
        allowed = "one whole number for each sample: logistic regression learns classes"
        got = f"{y.dtype} of shape {y.shape}"
        raise InputError("targets", of=f"the task {task.name}", allowed=allowed, got=got)
    names, labels = np.unique(y, return_inverse=True)
    return labels.astype(np.int64), len(names)


def _features(task: "Task", part: NDArray[Any]) -> Array:
    """Samples as the task prepares them, flat, with a constant column."""
    import torch

    prepared = task.prepare(torch.tensor(task.train.x[part]))
    features = prepared.detach().reshape(len(part), -1).double().numpy()
    if not np.isfinite(features).all():
        raise InputError("inputs", of=f"the task {task.name}", allowed="finite", got="nan or inf")
    return np.concatenate([features, np.ones((len(part), 1))], axis=1)
