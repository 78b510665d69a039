"""Theorem 1 and Corollary 1 beside what they bound: LFL's distance to the optimum, measured.

The problem meets every assumption of the theorem: l2-regularised multinomial logistic regression
(`lossyfl.experiments.logistic`), F_m the mean loss of device m plus lambda/2 ||theta||^2. Devices run tau
steps of mini-batch SGD; the broadcast is the paper's Q(theta(t) - theta_hat(t-1), q1) from round 1 on. The
uplink is exact, as the theorem assumes, or Q(update + delta, q2), as in Algorithm 1: then the bound is that
of `lossyfl.theory.Uplink`.

mu, L, theta* and Gamma are proved or found to high precision. What is measured on the way, and holds for
these runs only:

    G^2       the largest E||g||^2, exact over the draw of the batch, at any local iterate of any seed
    eps(t)    of the broadcast of round t, the largest of all seeds; eps is the largest of all rounds
    omega(t)  E||Q(y) - y||^2 / ||y||^2 of the replies of round t, exact over the rounding, both summed
              over devices by B_m/B; the largest of all seeds

The theorem's are means over all runs; a largest value is no smaller than the mean of the runs that are
measured. theta(0) = 0. Batches are drawn with replacement.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from lossyfl import theory
from lossyfl.experiments.bound_settings import BoundSetting
from lossyfl.experiments.logistic import Optimum, Source, one_thread, optimum
from lossyfl.experiments.logistic import regression as load
from lossyfl.experiments.regression import Array, Indices, Regression
from lossyfl.quantizers.stochastic import Stochastic
from lossyfl.streams import stream
from lossyfl.tasks.steps import step
from lossyfl.wire.codec import quantize
from lossyfl.wire.values import values

Tick: TypeAlias = Callable[[str, int, int], object]
"""How it goes: what is done, how much of it has been, and how much there is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Measured curves and their bounds; entry t is before round t, the last one is the end.

    problem:        the constants, G and distance0 among them
    eps:            eps(t), the largest of all seeds; 0 in round 0 and for a lossless broadcast
    omega:          omega(t), likewise; 0 for an exact uplink
    distance:       mean over the seeds of ||theta(t) - theta*||^2
    distance_bound: Theorem 1, eps and omega the largest of all rounds
    by_round:       the same with every round's own eps(t) and omega(t)
    gap:            mean over the seeds of F(theta(t)) - F*
    gap_bound:      Corollary 1, from `distance_bound`
    """

    setting: BoundSetting
    problem: theory.Problem
    eps: tuple[float, ...]
    omega: tuple[float, ...]
    distance: tuple[float, ...]
    distance_bound: tuple[float, ...]
    by_round: tuple[float, ...]
    gap: tuple[float, ...]
    gap_bound: tuple[float, ...]

    @property
    def holds(self) -> bool:
        """Whether all bounds hold at every t; at t = 0 those of the distance are equalities."""
        slack = 1 + 1e-12  # the mean of equal numbers is rounded
        return all(
            measured <= slack * limit
            for measured, limit in (
                *zip(self.distance, self.distance_bound, strict=True),
                *zip(self.distance, self.by_round, strict=True),
                *zip(self.gap, self.gap_bound, strict=True),
            )
        )

    @property
    def looseness(self) -> float:
        """Bound by round / measured distance at the end."""
        return self.by_round[-1] / self.distance[-1]

    @property
    def least_looseness(self) -> float:
        """The smallest bound by round / measured distance of all t > 0."""
        pairs = zip(self.distance[1:], self.by_round[1:], strict=True)
        return min(limit / measured for measured, limit in pairs)

    @property
    def remaining(self) -> float:
        """Bound by round at the end / distance at the start; from 1 on it promises no progress."""
        return self.by_round[-1] / self.problem.distance0


def silent(what: str, done: int, total: int) -> None:
    """Nobody is told how it goes."""


def run(
    settings: Sequence[BoundSetting], *, data_dir: Path | None = None, tick: Tick = silent
) -> list[Outcome]:
    """Every setting trained with all its seeds, and its bounds."""
    optima = _optima([setting.source(data_dir) for setting in settings], tick)
    with one_thread():
        steps = _Count("local steps", sum(s.seeds * s.rounds * s.tau for s in settings), tick)
        outcomes = dict[int, Outcome]()
        for source, best in optima.items():  # few sources are in memory at a time
            for i, setting in enumerate(settings):
                if setting.source(data_dir) == source:
                    outcomes[i] = _outcome(setting, load(source), best, steps.add)
    return [outcomes[i] for i in range(len(settings))]


def _optima(sources: Sequence[Source], tick: Tick) -> dict[Source, Optimum]:
    """The optimum of every source, once."""
    distinct = list(dict.fromkeys(sources))
    minima = _Count("minima", sum(1 + source.devices for source in distinct), tick)
    return {source: optimum(load(source), minima.add) for source in distinct}


@dataclass(slots=True)
class _Count:
    """How much of something has been done."""

    what: str
    total: int
    tick: Tick
    done: int = 0

    def add(self, more: int = 1) -> None:
        self.done += more
        self.tick(self.what, self.done, self.total)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trace:
    """One seed's run: the curves, eps and omega of every round, the largest E||g||^2 met."""

    distance: Array
    gap: Array
    eps: Array
    omega: Array
    mean_square: float


def _outcome(
    setting: BoundSetting, data: Regression, best: Optimum, tick: Callable[[int], object]
) -> Outcome:
    traces = [_train(setting, data, best, seed, tick) for seed in range(setting.seeds)]
    problem = theory.Problem(
        mu=setting.regulariser,
        smoothness=best.smoothness,
        gradient_bound=math.sqrt(max(trace.mean_square for trace in traces)),
        heterogeneity=best.heterogeneity,
        dimension=best.theta.size,
        distance0=float(np.sum(best.theta**2)),
    )
    eps = np.max([trace.eps for trace in traces], axis=0)
    omega = np.max([trace.omega for trace in traces], axis=0)
    uplink = partial(theory.Uplink, share=float(data.shares.max()))
    limit = setting.bound(problem, eps=eps.max(), uplink=uplink(variance=omega.max()))
    by_round = setting.bound(
        problem, eps=lambda t: eps[t], uplink=uplink(variance=lambda t: omega[t])
    )
    return Outcome(
        setting=setting,
        problem=problem,
        eps=tuple(eps.tolist()),
        omega=tuple(omega.tolist()),
        distance=tuple(np.mean([trace.distance for trace in traces], axis=0).tolist()),
        distance_bound=tuple(limit.tolist()),
        by_round=tuple(by_round.tolist()),
        gap=tuple(np.mean([trace.gap for trace in traces], axis=0).tolist()),
        gap_bound=tuple((best.smoothness / 2 * limit).tolist()),
    )


def _train(
    setting: BoundSetting, data: Regression, best: Optimum, seed: int, tick: Callable[[int], object]
) -> _Trace:
    """Algorithm 1, its uplink exact or quantized."""
    down, up = setting.quantizers(setting.q1), setting.quantizers(setting.q2)
    theta = np.zeros_like(best.theta)
    theta_hat = theta  # the first broadcast is exact
    memory = np.zeros((data.devices, *data.shape)) if up else None
    distance, gap = np.empty(setting.rounds + 1), np.empty(setting.rounds + 1)
    eps, omega = np.zeros(setting.rounds), np.zeros(setting.rounds)
    largest = 0.0
    for t in range(setting.rounds):
        distance[t], gap[t] = _measure(theta, data, best)
        if down is None:
            theta_hat = theta
        elif t > 0:
            update = theta - theta_hat
            eps[t] = theory.eps(update)
            theta_hat = theta_hat + sent(update, down(t), seed, t)
        replies, square = _local_updates(setting, data, theta_hat, seed, t)
        largest = max(largest, square)
        if up is not None and memory is not None:
            wanted = replies + memory
            omega[t] = relative_variance(wanted, up(t).levels, data.shares)
            replies = np.stack([sent(y, up(t), seed, t, m) for m, y in enumerate(wanted)])
            memory = wanted - replies
        theta = theta_hat + np.tensordot(data.shares, replies, axes=1)
        tick(setting.tau)
    distance[-1], gap[-1] = _measure(theta, data, best)
    return _Trace(distance=distance, gap=gap, eps=eps, omega=omega, mean_square=largest)


def _measure(theta: Array, data: Regression, best: Optimum) -> tuple[float, float]:
    """||theta - theta*||^2 and F(theta) - F*."""
    return float(np.sum((theta - best.theta) ** 2)), data.loss(theta) - best.loss


def sent(x: Array, quantizer: Stochastic, seed: int, round: int, device: int = -1) -> Array:
    """What a frame of x gives back, the server's or a device's; nobody asks for its bytes here."""
    purpose = "downlink" if device < 0 else "uplink"
    rng = stream(seed, purpose=purpose, round=round, device=device)
    quantized = quantize(x.astype(np.float32).ravel(), quantizer, rng=rng)
    return values(quantized).astype(np.float64).reshape(x.shape)


def relative_variance(vectors: Array, levels: int, weights: Array) -> float:
    """The weighted sum of E||Q(y) - y||^2, exact over the rounding, over that of ||y||^2.

    A value between two of q levels that are s apart, f of the way up, has the variance s^2 f (1 - f).
    """
    rows = np.abs(vectors).reshape(len(vectors), -1)
    low = rows.min(axis=1, keepdims=True)
    gap = (rows.max(axis=1, keepdims=True) - low) / levels
    part = np.divide(rows - low, gap, out=np.zeros_like(rows), where=gap > 0) % 1.0
    lost = gap[:, 0] ** 2 * np.sum(part * (1 - part), axis=1)
    energy = float(weights @ np.sum(rows**2, axis=1))
    return float(weights @ lost) / energy if energy else 0.0


def _local_updates(
    setting: BoundSetting, data: Regression, theta_hat: Array, seed: int, round: int
) -> tuple[Array, float]:
    """theta_m^{tau+1} - theta_hat of every device, and the largest E||g||^2 on the way."""
    chosen = _batches(setting, data, seed, round)
    eta = step(setting.eta).at(round)
    theta, largest = theta_hat, 0.0
    for i in range(setting.tau):
        residuals = data.residuals(theta)
        largest = max(largest, float(data.mean_squares(theta, residuals, setting.batch).max()))
        theta = theta - eta * data.batch_gradients(theta, residuals, chosen[:, i])
    return theta - theta_hat, largest


def _batches(setting: BoundSetting, data: Regression, seed: int, round: int) -> Indices:
    """The samples of every device and local step; modulo is uneven by less than sizes / 2^32."""
    bits = _bits(seed, round, data.devices, setting.tau * setting.batch)
    chosen = bits.astype(np.int64) % data.sizes[:, None]
    return chosen.reshape(data.devices, setting.tau, setting.batch)


@lru_cache(maxsize=1024)  # settings that differ in q, eta or partition draw the same bits
def _bits(seed: int, round: int, devices: int, count: int) -> NDArray[np.uint32]:
    """The bits of the batch streams of all devices, (devices, count)."""
    address = partial(stream, seed, purpose="batch", round=round)
    return np.array([address(device=m).bits(0, count) for m in range(devices)])
