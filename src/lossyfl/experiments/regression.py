"""Multinomial logistic regression with an l2 regulariser, divided among devices."""

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import InputError
from lossyfl.extras import require

Array: TypeAlias = NDArray[np.float64]
Indices: TypeAlias = NDArray[np.int64]

PRECISION = 1e-7
"""The largest gradient norm that counts as an optimum."""

NEWTON_STEPS = 10
"""One or two are enough near the optimum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Regression:
    """The samples of all devices, device after device.

    x:           features, (samples, features)
    labels:      classes from 0 on, (samples,)
    starts:      where the samples of every device begin, and the end of the last; (devices + 1,)
    classes:     how many
    regulariser: lambda

    theta is (classes, features), common to all devices or one for each.
    """

    x: Array
    squares: Array  # ||x_s||^2
    labels: Indices
    starts: Indices
    classes: int
    regulariser: float

    @property
    def devices(self) -> int:
        """How many devices there are."""
        return len(self.starts) - 1

    @property
    def sizes(self) -> Indices:
        """How many samples each device has, B_m."""
        return np.diff(self.starts)

    @property
    def shares(self) -> Array:
        """The weight of each device in the mean, B_m / B."""
        return self.sizes / len(self.x)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of one theta: a row of weights for each class."""
        return self.classes, self.x.shape[1]

    def device(self, m: int) -> "Regression":
        """The problem of device m alone."""
        device = slice(*self.starts[m : m + 2])
        return replace(
            self,
            x=self.x[device],
            squares=self.squares[device],
            labels=self.labels[device],
            starts=np.array([0, self.sizes[m]]),
        )

    def loss(self, theta: Array) -> float:
        """F(theta) = sum_m B_m/B F_m(theta)."""
        return self._loss_and_residuals(theta)[0]

    def slope(self, theta: Array) -> tuple[float, Array]:
        """F(theta) and its gradient."""
        loss, residuals = self._loss_and_residuals(theta)
        return loss, residuals.T @ self.x / len(self.x) + self.regulariser * theta

    def residuals(self, theta: Array) -> Array:
        """softmax(theta x) - y of every sample, (samples, classes)."""
        return self._loss_and_residuals(theta)[1]

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
        squares = np.einsum("nc,nc,n->n", residuals, residuals, self.squares)
        sums = np.add.reduceat(squares, self.starts[:-1])
        variances = sums / self.sizes - np.sum(means**2, axis=(1, 2))
        gradients = means + self.regulariser * theta
        return np.sum(gradients**2, axis=(1, 2)) + variances / batch

    def batch_gradients(self, theta: Array, residuals: Array, chosen: Indices) -> Array:
        """The stochastic gradient of every device from its chosen samples, (devices, batch)."""
        places = chosen + self.starts[:-1, None]
        sums = residuals[places].transpose(0, 2, 1) @ self.x[places]
        return sums / chosen.shape[1] + self.regulariser * theta

    def smoothness(self) -> float:
        """L: lambda + 1/2 max_m eig(X_m^T X_m / B_m).

        The Hessian of one sample is (diag(p) - p p^T) kron (x x^T). Row i of diag(p) - p p^T has the
        absolute sum 2 p_i (1 - p_i) <= 1/2, so by Gershgorin no eigenvalue is above 1/2, and that of a
        Kronecker product is at most the product of the two.
        """
        largest = 0.0
        for m in range(self.devices):
            x = self.device(m).x
            gram = x.T @ x if len(x) > x.shape[1] else x @ x.T  # the same eigenvalues but for zeros
            largest = max(largest, float(np.linalg.eigvalsh(gram)[-1]) / len(x))
        return largest / 2 + self.regulariser

    def minimum(self) -> Array:
        """theta*, where F is least: L-BFGS, then Newton's method.

        A line search compares losses, whose differences vanish in rounding long before the gradient does.
        Fewer samples than features span a space that the gradient never leaves: it is searched alone.
        """
        if len(self.x) < self.x.shape[1]:
            basis, corner = np.linalg.qr(self.x.T)
            return replace(self, x=np.ascontiguousarray(corner.T)).minimum() @ basis.T

        def value(flat: Array) -> tuple[float, Array]:
            loss, gradient = self.slope(flat.reshape(self.shape))
            return loss, gradient.ravel()

        minimize = require("scipy.optimize", extra="sim").minimize
        options = {"maxiter": 20_000, "maxfun": 40_000, "maxcor": 30, "ftol": 0.0, "gtol": 1e-6}
        start = np.zeros(math.prod(self.shape))
        found = minimize(value, start, jac=True, method="L-BFGS-B", options=options)
        theta = np.asarray(found.x, dtype=np.float64).reshape(self.shape)
        for _ in range(NEWTON_STEPS):
            gradient = self.slope(theta)[1]
            if np.linalg.norm(gradient) < PRECISION:
                return theta
            theta = theta - self._solved(theta, gradient)
        norm = float(np.linalg.norm(self.slope(theta)[1]))
        allowed = f"so large that the gradient vanishes at the optimum (to {PRECISION:g})"
        got = f"{self.regulariser:g}, which leaves {norm:.2g}"
        raise InputError("regulariser", of="bound", allowed=allowed, got=got)

    def _solved(self, theta: Array, gradient: Array) -> Array:
        """Newton's step, the Hessian's inverse times the gradient, by conjugate gradients."""
        p = self.residuals(theta)
        p[np.arange(len(p)), self.labels] += 1

        def curved(flat: Array) -> Array:
            v = flat.reshape(self.shape)
            moved = p * self._logits(v)
            moved -= p * moved.sum(axis=1, keepdims=True)
            return (moved.T @ self.x / len(self.x) + self.regulariser * v).ravel()

        linear = require("scipy.sparse.linalg", extra="sim")
        size = gradient.size
        hessian = linear.LinearOperator((size, size), matvec=curved, dtype=np.float64)
        step, _ = linear.cg(hessian, gradient.ravel(), rtol=1e-4, maxiter=2000)
        return np.asarray(step).reshape(self.shape)

    def _loss_and_residuals(self, theta: Array) -> tuple[float, Array]:
        """F of a common theta (without a meaning for one each), and softmax(theta x) - y."""
        samples = np.arange(len(self.x))
        logits = self._logits(theta)
        logits -= logits.max(axis=1, keepdims=True)
        right = float(logits[samples, self.labels].mean())
        np.exp(logits, out=logits)
        sums = logits.sum(axis=1, keepdims=True)
        logits /= sums
        logits[samples, self.labels] -= 1
        loss = float(np.log(sums).mean()) - right
        return loss + self.regulariser / 2 * float(np.sum(theta**2)), logits

    def _logits(self, theta: Array) -> Array:
        if theta.ndim == 2:
            return self.x @ theta.T
        logits = np.empty((len(self.x), self.classes))
        for m, (start, stop) in enumerate(zip(self.starts, self.starts[1:], strict=False)):
            np.matmul(self.x[start:stop], theta[m].T, out=logits[start:stop])
        return logits

    def _means(self, residuals: Array) -> Array:
        """The mean of (p_s - y_s) x_s^T over the samples of every device."""
        means = np.empty((self.devices, *self.shape))
        for m, (start, stop) in enumerate(zip(self.starts, self.starts[1:], strict=False)):
            np.matmul(residuals[start:stop].T, self.x[start:stop], out=means[m])
            means[m] /= stop - start
        return means
