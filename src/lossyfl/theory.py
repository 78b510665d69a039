"""Theorem 1 and Corollary 1: how far from the optimum LFL can be after t rounds.

Amiri, Gündüz, Kulkarni, Poor, "Federated Learning With Quantized Global Model Updates", 2020,
Section 3. For 0 < eta(t) <= min(1, 1 / (mu tau)),

    E||theta(t) - theta*||^2 <= prod_{i<t} A(i) ||theta(0) - theta*||^2
                                + sum_{j<t} B(j) prod_{j<i<t} A(i)
    E[F(theta(t))] - F*      <= L/2 times that

    A(i) = 1 - mu eta_i (tau - eta_i (tau - 1))
    B(i) = A(i) (eta_{i-1} tau G / (2 q1))^2 eps d              quantized broadcast, zero for i = 0
         + eta_i^2 (tau^2 + tau - 1) G^2                        stochastic gradients
         + (1 + mu (1 - eta_i)) eta_i^2 G^2 tau (tau - 1) (2 tau - 1) / 6     local drift
         + 2 eta_i (tau - 1) Gamma                              devices whose optima differ

The first broadcast is exact, so B(0) has no quantization term. The paper's closed form for tau = 1
and constant eta counts one there, and is larger by L/2 (1 - mu eta)^t (eta G / (2 q1))^2 eps d.

What is assumed: the uplink is exact; every F_m is L-smooth and mu-strongly convex; the stochastic
gradients have E||g||^2 <= G^2 at every local iterate; devices run tau steps of plain SGD with the
same eta(t), and all of them take part. Neural networks, Adam and quantized uplinks are outside.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lossyfl.errors import InputError
from lossyfl.jit import kernel

Rate: TypeAlias = float | Callable[[int], float]
"""A step size: one number, or a function of the round."""

Levels: TypeAlias = int | Callable[[int], int]
"""The paper's q1: one number, or a function of the round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The constants of the loss functions that the bound depends on.

    mu:             strong convexity of every F_m
    smoothness:     L, of every F_m
    gradient_bound: G, with E||g||^2 <= G^2 for every stochastic gradient
    heterogeneity:  Gamma = F* - sum_m B_m/B F_m*, zero where all devices have the same optimum
    dimension:      d, the entries of theta
    distance0:      ||theta(0) - theta*||^2
    """

    mu: float
    smoothness: float
    gradient_bound: float
    heterogeneity: float
    dimension: int
    distance0: float

    def __post_init__(self) -> None:
        if not 0 < self.mu < math.inf:
            raise InputError("mu", of="Problem", allowed="positive and finite", got=self.mu)
        if not self.mu <= self.smoothness < math.inf:
            allowed = f"finite and at least mu = {self.mu:g}"
            raise InputError("smoothness", of="Problem", allowed=allowed, got=self.smoothness)
        for name, value in (
            ("gradient_bound", self.gradient_bound),
            ("heterogeneity", self.heterogeneity),
            ("distance0", self.distance0),
        ):
            if not 0 <= value < math.inf:
                raise InputError(name, of="Problem", allowed="finite and at least 0", got=value)
        _check_count("dimension", self.dimension, of="Problem")


def bound(
    problem: Problem, *, rounds: int, tau: int, eta: Rate, q1: Levels | None, eps: float
) -> NDArray[np.float64]:
    """The bound of Theorem 1 on E||theta(t) - theta*||^2 for t = 0 ... rounds.

    eta: the step size, in (0, min(1, 1 / (mu tau))] in every round
    q1:  levels of the broadcast, from round 1 on; None is a lossless broadcast
    eps: the largest eps(theta(t) - theta_hat(t-1)) of all rounds, in [0, 1]; unused without q1

    >>> unit = Problem(
    ...     mu=1, smoothness=2, gradient_bound=1, heterogeneity=0, dimension=8, distance0=4
    ... )
    >>> bound(unit, rounds=3, tau=1, eta=0.5, q1=1, eps=0.5)
    array([4.   , 2.25 , 1.5  , 1.125])
    >>> bound(unit, rounds=3, tau=1, eta=0.5, q1=None, eps=0)
    array([4.    , 2.25  , 1.375 , 0.9375])
    """
    _check_count("rounds", rounds, of="bound", least=0)
    _check_count("tau", tau, of="bound")
    if not 0 <= eps <= 1:
        raise InputError("eps", of="bound", allowed="in [0, 1]", got=eps)
    steps = _steps(eta, rounds, limit=min(1.0, 1.0 / (problem.mu * tau)))
    levels = None if q1 is None else _levels(q1, rounds)
    g2 = problem.gradient_bound**2
    values = np.empty(rounds + 1)
    values[0] = problem.distance0
    for i in range(rounds):
        step = steps[i]
        shrink = 1 - problem.mu * step * (tau - step * (tau - 1))
        added = step**2 * (tau**2 + tau - 1) * g2
        drift = tau * (tau - 1) * (2 * tau - 1) / 6
        added += (1 + problem.mu * (1 - step)) * step**2 * g2 * drift
        added += 2 * step * (tau - 1) * problem.heterogeneity
        if levels is not None and i > 0:
            noise = (steps[i - 1] * tau / (2 * levels[i - 1])) ** 2 * g2
            added += shrink * noise * eps * problem.dimension
        values[i + 1] = shrink * values[i] + added
    return values


def loss_bound(
    problem: Problem, *, rounds: int, tau: int, eta: Rate, q1: Levels | None, eps: float
) -> NDArray[np.float64]:
    """The bound of Corollary 1 on E[F(theta(t))] - F* for t = 0 ... rounds: L/2 times `bound`.

    >>> unit = Problem(
    ...     mu=1, smoothness=2, gradient_bound=1, heterogeneity=0, dimension=8, distance0=4
    ... )
    >>> loss_bound(unit, rounds=2, tau=1, eta=0.5, q1=None, eps=0)
    array([4.   , 2.25 , 1.375])
    """
    distance = bound(problem, rounds=rounds, tau=tau, eta=eta, q1=q1, eps=eps)
    return problem.smoothness / 2 * distance


def eps(x: ArrayLike) -> float:
    """(max|x| - min|x|)^2 / ||x||^2 of Lemma 1, in [0, 1]; zero for the zero vector.

    It is 1 for one nonzero entry among zeros, and 0 where all magnitudes are equal.

    >>> eps([0, 0, -3]), eps([2, -2]), eps([0, 0])
    (1.0, 0.0, 0.0)
    >>> eps([3, -4])
    0.04
    """
    entries = np.asarray(x).ravel()
    if entries.dtype != np.float32:
        entries = entries.astype(np.float64)
    if not entries.size or not np.isfinite(high := _largest(entries)):
        raise InputError("x", of="eps", allowed="finite, of at least one entry", got=x)
    if high == 0:
        return 0.0
    low, squares = _spread(entries, high)
    return (1 - low) ** 2 / squares


@kernel
def _largest(entries: NDArray[Any]) -> float:
    """The largest magnitude; infinite if an entry is no number."""
    high = 0.0
    for value in entries:
        magnitude = abs(np.float64(value))
        if not magnitude <= np.inf:
            return np.inf
        high = max(high, magnitude)
    return high


@kernel
def _spread(entries: NDArray[Any], high: float) -> tuple[float, float]:
    """The smallest magnitude and the sum of squares, of entries divided by the largest magnitude.

    Divided, so that squares neither overflow nor vanish.
    """
    low, total = 1.0, 0.0
    for start in range(0, len(entries), 4096):  # sums of sums lose less
        part = 0.0
        for value in entries[start : start + 4096]:
            scaled = abs(np.float64(value)) / high
            low = min(low, scaled)
            part += scaled * scaled
        total += part
    return low, total


def _steps(eta: Rate, rounds: int, *, limit: float) -> list[float]:
    """eta(t) for t = 0 ... rounds - 1 (for 0 at least), each found valid."""
    steps = [eta(t) if callable(eta) else eta for t in range(max(rounds, 1))]
    for t, step in enumerate(steps):
        if not 0 < step <= limit:
            allowed = f"in (0, {limit:g}], which is (0, min(1, 1 / (mu tau))]"
            raise InputError("eta", of="bound", allowed=allowed, got=f"{step!r} in round {t}")
    return steps


def _levels(q1: Levels, rounds: int) -> list[int]:
    """q1(t) for t = 1 ... rounds - 1 (for 1 at least), each found valid; round 0 is exact."""
    levels = [q1(t) if callable(q1) else q1 for t in range(1, max(rounds, 2))]
    for level in levels:
        _check_count("q1", level, of="bound")
    return levels


def _check_count(what: str, value: object, *, of: str, least: int = 1) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(what, of=of, allowed=f"an int of at least {least}", got=value)
