"""A strongly convex problem with known constants: logistic regression on the embedded digits.

l2-regularised multinomial logistic regression on scikit-learn's 8x8 digits (pixels / 16 and a constant
column, d = 650), cut among devices at random or by label; with its optimum theta*, F*, the smoothness L
and the heterogeneity Gamma = F* - sum_m B_m/B F_m*.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from lossyfl.extras import require
from lossyfl.streams import stream

Array: TypeAlias = NDArray[np.float64]
Partition: TypeAlias = Literal["iid", "non-iid"]

SAMPLES = 1797
CLASSES = 10
PRECISION = 1e-7
"""The largest gradient norm that counts as an optimum; theta* is then off by PRECISION / mu."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The samples of every device; shorter devices are filled up with zeros, which add nothing.

    x:           features, (devices, samples, features)
    lengths:     ||x_s||, (devices, samples)
    y:           labels as unit vectors, (devices, classes, samples); zero where filled
    sizes:       B_m
    regulariser: lambda

    theta is (classes, features), common to all devices or one for each.
    """

    x: Array
    lengths: Array
    y: Array
    sizes: NDArray[np.int64]
    regulariser: float

    @property
    def shares(self) -> Array:
        """B_m / B."""
        return self.sizes / self.sizes.sum()

    def device(self, m: int) -> "Task":
        """The task of device m alone."""
        own, n = slice(m, m + 1), int(self.sizes[m])
        return Task(
            x=self.x[own, :n],
            lengths=self.lengths[own, :n],
            y=self.y[own, :, :n],
            sizes=self.sizes[own],
            regulariser=self.regulariser,
        )

    def losses(self, theta: Array) -> Array:
        """F_m(theta) of every device."""
        logits = theta @ self.x.transpose(0, 2, 1)
        top = logits.max(axis=1)
        normaliser = top + np.log(np.exp(logits - top[:, None]).sum(axis=1))
        real = self.y.sum(axis=1)  # 0 where filled
        sums = np.sum(real * normaliser, axis=1) - np.sum(self.y * logits, axis=(1, 2))
        return sums / self.sizes + self.regulariser / 2 * np.sum(theta**2)

    def residuals(self, theta: Array) -> Array:
        """softmax(theta x) - y of every sample, (devices, classes, samples)."""
        logits = theta @ self.x.transpose(0, 2, 1)
        logits -= logits.max(axis=1, keepdims=True)
        np.exp(logits, out=logits)
        logits /= logits.sum(axis=1, keepdims=True)
        logits -= self.y
        return logits

    def gradients(self, theta: Array) -> Array:
        """The gradient of F_m at theta, of every device."""
        return self._means(self.residuals(theta)) + self.regulariser * theta

    def mean_squares(self, theta: Array, residuals: Array, batch: int) -> Array:
        """E||g||^2 of every device, g the gradient of a batch drawn with replacement.

        E||g||^2 = ||grad F_m||^2 + (mean of ||g_s||^2 - ||mean of g_s||^2) / batch, with
        g_s = (p_s - y_s) x_s^T, so that ||g_s|| = ||p_s - y_s|| ||x_s||. The regulariser's gradient
        is the same for all samples: it is in the first term and has no variance.
        """
        means = self._means(residuals)
        squares = np.einsum("mcn,mcn->mn", residuals, residuals) * self.lengths**2
        variances = squares.sum(axis=1) / self.sizes - np.sum(means**2, axis=(1, 2))
        gradients = means + self.regulariser * theta
        return np.sum(gradients**2, axis=(1, 2)) + variances / batch

    def batch_gradients(self, theta: Array, residuals: Array, chosen: NDArray[np.int64]) -> Array:
        """The stochastic gradient of every device from its chosen samples, (devices, batch)."""
        devices, samples = self.lengths.shape
        starts = np.arange(devices, dtype=np.int64) * samples
        places: NDArray[np.int64] = np.add(chosen, starts[:, None]).ravel()
        times = np.bincount(places, minlength=devices * samples).reshape(devices, 1, samples)
        return (residuals * times) @ self.x / chosen.shape[1] + self.regulariser * theta

    def _means(self, residuals: Array) -> Array:
        return residuals @ self.x / self.sizes[:, None, None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Optimum:
    """theta*, F*, and the constants of the task that do not depend on the run."""

    theta: Array
    loss: float
    smoothness: float
    heterogeneity: float


@cache
def task(partition: Partition, devices: int, regulariser: float) -> Task:
    """The digits, cut into `devices` contiguous parts after shuffling or sorting by label."""
    digits = require("sklearn.datasets", extra="sim").load_digits()
    pixels, labels = np.asarray(digits.data, dtype=np.float64) / 16, np.asarray(digits.target)
    x = np.concatenate([pixels, np.ones((len(pixels), 1))], axis=1)
    y = np.eye(CLASSES)[:, labels]
    keys = stream(0, purpose="partition").bits(0, SAMPLES) if partition == "iid" else labels
    parts = np.array_split(np.argsort(keys, kind="stable"), devices)
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    filled_x = np.zeros((devices, sizes.max(), x.shape[1]))
    filled_y = np.zeros((devices, CLASSES, sizes.max()))
    for m, part in enumerate(parts):
        filled_x[m, : len(part)], filled_y[m, :, : len(part)] = x[part], y[:, part]
    lengths = np.linalg.norm(filled_x, axis=2)
    return Task(x=filled_x, lengths=lengths, y=filled_y, sizes=sizes, regulariser=regulariser)


@cache
def optimum(partition: Partition, devices: int, regulariser: float) -> Optimum:
    """The minimum of F and of every F_m, hence Gamma; and L."""
    whole = task(partition, devices, regulariser)
    theta = _minimise(whole)
    loss = float(whole.shares @ whole.losses(theta))
    alone = [whole.device(m) for m in range(devices)]
    least = np.array([float(own.losses(_minimise(own))[0]) for own in alone])
    return Optimum(
        theta=theta,
        loss=loss,
        smoothness=_smoothness(whole),
        # Never negative; rounding may make it so where the devices are alike.
        heterogeneity=max(0.0, loss - float(whole.shares @ least)),
    )


def _smoothness(data: Task) -> float:
    """L: lambda + 1/2 max_m eig(X_m^T X_m / B_m).

    The Hessian of one sample is (diag(p) - p p^T) kron (x x^T). Row i of diag(p) - p p^T has the
    absolute sum 2 p_i (1 - p_i) <= 1/2, so by Gershgorin no eigenvalue is above 1/2, and that of a
    Kronecker product is at most the product of the two.
    """
    grams = data.x.transpose(0, 2, 1) @ data.x / data.sizes[:, None, None]
    return float(np.linalg.eigvalsh(grams)[:, -1].max()) / 2 + data.regulariser


def _minimise(data: Task) -> Array:
    """The minimum of sum_m B_m/B F_m, in float64."""
    shape = (data.y.shape[1], data.x.shape[2])

    def value(flat: Array) -> tuple[float, Array]:
        theta = flat.reshape(shape)
        gradient = np.tensordot(data.shares, data.gradients(theta), axes=1)
        return float(data.shares @ data.losses(theta)), gradient.ravel()

    minimize = require("scipy.optimize", extra="sim").minimize
    # No stop on small progress: the line search ends at the precision of float64.
    options = {"maxiter": 5000, "maxfun": 10_000, "maxcor": 30, "ftol": 0.0, "gtol": 1e-10}
    found = minimize(
        value, np.zeros(math.prod(shape)), jac=True, method="L-BFGS-B", options=options
    )
    flat = np.asarray(found.x, dtype=np.float64)
    norm = float(np.linalg.norm(value(flat)[1]))
    if norm > PRECISION:
        raise ArithmeticError(f"gradient norm {norm:g} at the minimum, {PRECISION:g} wanted")
    return flat.reshape(shape)
