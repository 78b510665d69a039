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
eps is the largest eps(t) of all rounds; the proof holds with each round's own, which is less.

What is assumed: the uplink is exact; every F_m is L-smooth and mu-strongly convex; the stochastic
gradients have E||g||^2 <= G^2 at every local iterate; devices run tau steps of plain SGD with the
same eta(t), and all of them take part. Neural networks and Adam are outside.

Beyond the paper, with a quantized uplink whose errors devices keep (`Uplink`): omega(t) is the
relative variance of the replies, s the largest B_m / B, r(t) = eta(t) tau G. The memory of the
devices has the root mean square D, their weighted mean k, and the broadcast the mean square u:

    D(0) = 0,  D(t+1) = sqrt(omega(t)) (r(t) + D(t)),  k(t) = sqrt(s) D(t)
    u(t) = (r(t-1) + k(t-1))^2 + k(t)^2
    W(0) = ||theta(0) - theta*||^2
    W(t+1) = A(t) (W(t) + u(t) eps(t) d / (4 q1^2)) + [the other terms of B(t)] + 2 r(t) k(t)
    E||theta(t) - theta*||^2 <= W(t) + k(t)^2

With omega = 0 it is Theorem 1. The proof is in docs/theory.md.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import InputError
from lossyfl.theory.variance import relative_variance

Rate: TypeAlias = float | Callable[[int], float]
"""A step size, or another number of every round: one for all, or a function of the round."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Uplink:
    """Replies that an unbiased quantizer makes, its errors kept by the devices (error feedback).

    variance: omega(t) = sum_m B_m/B E||Q(y_m) - y_m||^2 / sum_m B_m/B E||y_m||^2, y_m what device m
              quantizes in round t. From 1 on the memory may grow without limit, and the bound does.
    share:    the largest B_m / B: devices round independently, so errors average out
    """

    variance: Rate
    share: float

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise InputError("share", of="Uplink", allowed="in (0, 1]", got=self.share)


EXACT = Uplink(variance=0.0, share=1.0)
"""The uplink of Theorem 1."""


def bound(
    problem: Problem,
    *,
    rounds: int,
    tau: int,
    eta: Rate,
    q1: Levels | None,
    eps: Rate,
    uplink: Uplink = EXACT,
) -> NDArray[np.float64]:
    """The bound of Theorem 1 on E||theta(t) - theta*||^2 for t = 0 ... rounds.

    eta:    the step size, in (0, min(1, 1 / (mu tau))] in every round
    q1:     levels of the broadcast, from round 1 on; None is a lossless broadcast
    eps:    the largest eps(theta(t) - theta_hat(t-1)) of all rounds, or that of each round from 1 on,
            in [0, 1]; unused without q1
    uplink: how replies are quantized; exact as the theorem has it

    >>> unit = Problem(
    ...     mu=1, smoothness=2, gradient_bound=1, heterogeneity=0, dimension=8, distance0=4
    ... )
    >>> bound(unit, rounds=3, tau=1, eta=0.5, q1=1, eps=0.5)
    array([4.   , 2.25 , 1.5  , 1.125])
    >>> bound(unit, rounds=3, tau=1, eta=0.5, q1=None, eps=0)
    array([4.    , 2.25  , 1.375 , 0.9375])
    >>> bound(unit, rounds=2, tau=1, eta=0.5, q1=None, eps=0, uplink=Uplink(variance=0.25, share=1))
    array([4.      , 2.3125  , 1.765625])
    """
    _check_count("rounds", rounds, of="bound", least=0)
    _check_count("tau", tau, of="bound")
    steps = _steps(eta, rounds, limit=min(1.0, 1.0 / (problem.mu * tau)))
    sent = _broadcast_variances(problem.dimension, rounds, q1, eps)
    replied = _numbers("variance", "Uplink", uplink.variance, range(rounds), math.inf)
    values = np.full(rounds + 1, math.inf)
    values[0] = virtual = problem.distance0
    memory = mean = update = 0.0  # D, k and u
    for t, step in enumerate(steps[:rounds]):
        reach = step * tau * problem.gradient_bound
        shrink = 1 - problem.mu * step * (tau - step * (tau - 1))
        virtual = shrink * (virtual + update * sent[t])
        virtual += _added(problem, step, tau) + 2 * reach * mean
        memory = math.sqrt(replied[t]) * (reach + memory)
        before, mean = mean, math.sqrt(uplink.share) * memory
        update = (reach + before) * (reach + before) + mean * mean
        if update == math.inf:
            break  # the memory has grown beyond all numbers
        values[t + 1] = virtual + mean * mean
    return values


def loss_bound(
    problem: Problem,
    *,
    rounds: int,
    tau: int,
    eta: Rate,
    q1: Levels | None,
    eps: Rate,
    uplink: Uplink = EXACT,
) -> NDArray[np.float64]:
    """The bound of Corollary 1 on E[F(theta(t))] - F* for t = 0 ... rounds: L/2 times `bound`.

    >>> unit = Problem(
    ...     mu=1, smoothness=2, gradient_bound=1, heterogeneity=0, dimension=8, distance0=4
    ... )
    >>> loss_bound(unit, rounds=2, tau=1, eta=0.5, q1=None, eps=0)
    array([4.   , 2.25 , 1.375])
    """
    distance = bound(problem, rounds=rounds, tau=tau, eta=eta, q1=q1, eps=eps, uplink=uplink)
    return problem.smoothness / 2 * distance


def _steps(eta: Rate, rounds: int, *, limit: float) -> list[float]:
    """eta(t) for t = 0 ... rounds - 1 (for 0 at least), each found valid."""
    steps = [eta(t) if callable(eta) else eta for t in range(max(rounds, 1))]
    for t, step in enumerate(steps):
        if not 0 < step <= limit:
            allowed = f"in (0, {limit:g}], which is (0, min(1, 1 / (mu tau))]"
            raise InputError("eta", of="bound", allowed=allowed, got=f"{step!r} in round {t}")
    return steps


def _added(problem: Problem, step: float, tau: int) -> float:
    """The terms of B that quantizing has no part in."""
    noise = tau**2 + tau - 1
    drift = (1 + problem.mu * (1 - step)) * tau * (tau - 1) * (2 * tau - 1) / 6
    apart = 2 * step * (tau - 1) * problem.heterogeneity
    return step**2 * problem.gradient_bound**2 * (noise + drift) + apart


def _broadcast_variances(dimension: int, rounds: int, q1: Levels | None, eps: Rate) -> list[float]:
    """eps(t) d / (4 q1(t)^2) of every round, each found valid; 0 in round 0, which is exact."""
    later = range(1, rounds)
    values = _numbers("eps", "bound", eps, later, 1.0)
    if q1 is None:
        return [0.0] * max(rounds, 1)
    levels = [q1(t) for t in later] if callable(q1) else [q1] * len(later)
    for level in levels if callable(q1) else [q1]:
        _check_count("q1", level, of="bound")
    pairs = zip(values, levels, strict=True)
    return [0.0, *(relative_variance(e, dimension=dimension, levels=q) for e, q in pairs)]


def _numbers(what: str, of: str, value: Rate, rounds: range, most: float) -> list[float]:
    """The value in every one of the rounds, each found finite and in [0, most]."""
    values = {t: value(t) for t in rounds} if callable(value) else {-1: value}
    allowed = "finite and at least 0" if most == math.inf else f"in [0, {most:g}]"
    for t, number in values.items():
        if not (0 <= number <= most and number < math.inf):
            got = f"{number!r} in round {t}" if callable(value) else number
            raise InputError(what, of=of, allowed=allowed, got=got)
    return list(values.values()) if callable(value) else [value] * len(rounds)


def _check_count(what: str, value: object, *, of: str, least: int = 1) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise InputError(what, of=of, allowed=f"an int of at least {least}", got=value)
