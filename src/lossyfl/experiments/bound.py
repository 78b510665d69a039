"""Theorem 1 and Corollary 1 beside what they bound: LFL's distance to the optimum, measured.

The problem meets every assumption of the theorem: l2-regularised multinomial logistic regression
on scikit-learn's 8x8 digits (pixels / 16 and a constant column, d = 650), F_m the mean loss of
device m plus lambda/2 ||theta||^2. Devices run tau steps of mini-batch SGD; the uplink is exact;
the broadcast is the paper's Q(theta(t) - theta_hat(t-1), q1), as a frame, from round 1 on.

Where the constants come from:

    mu     lambda: log-sum-exp is convex, the regulariser adds lambda
    L      lambda + 1/2 max_m eig(X_m^T X_m / B_m), see `_smoothness`
    Gamma  F* - sum_m B_m/B F_m*, every minimum found by L-BFGS
    G^2    the largest E||g||^2, exact over the draw of the batch, at any local iterate of any seed
    eps    the largest of all rounds and seeds

The theorem's G^2 and eps bound means over all runs; a largest value is no smaller than the mean of
the runs that are measured. theta(0) = 0. Batches are drawn with replacement.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from lossyfl import theory
from lossyfl.bench.tables import Sheet
from lossyfl.codec import decode, encode
from lossyfl.errors import InputError, one_of
from lossyfl.experiments.logistic import SAMPLES, Array, Optimum, Partition, Task, optimum, task
from lossyfl.extras import require
from lossyfl.quantizers.stochastic import Stochastic
from lossyfl.streams import stream

ASSUMPTIONS = "exact uplink, strongly convex smooth losses, bounded gradients, plain SGD"

LEGEND = """\
distance    mean of ||theta - theta*||^2 after the last round; beside it Theorem 1's bound,
/ start     the bound over the distance at the start: from 1 on it promises no progress,
/ measured  the bound over what was measured: how loose it is,
least       and the least of that over all rounds
F - F*      mean loss above the optimum; beside it Corollary 1's bound
holds       whether both bounds hold in every round"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A step size that falls like 1/t: eta(t) = first / (1 + t / half); constant without `half`.

    >>> Step(first=0.2, half=50)(50), Step(first=0.2)(50)
    (0.1, 0.2)
    """

    first: float
    half: int | None = None

    def __call__(self, round: int) -> float:
        """eta(t)."""
        return self.first if self.half is None else self.first / (1 + round / self.half)

    def __str__(self) -> str:
        """The formula, as tables and panels show it."""
        if self.half is None:
            return f"{self.first:g}"
        return f"{self.first * self.half:g}/(t+{self.half})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One line of the table: what is trained, and how.

    q1:          levels of the broadcast; None is lossless
    tau:         local steps in a round
    partition:   "iid" cuts the shuffled samples, "non-iid" the samples sorted by label
    step:        eta(t), in (0, min(1, 1 / (lambda tau))]
    batch:       samples of a local step, drawn with replacement
    seeds:       runs that the measured curves are the mean of
    regulariser: lambda
    """

    q1: int | None
    tau: int
    partition: Partition
    step: Step
    devices: int = 20
    rounds: int = 120
    batch: int = 20
    seeds: int = 5
    regulariser: float = 0.1

    def __post_init__(self) -> None:
        if self.partition not in get_args(Partition):
            allowed = one_of(get_args(Partition), self.partition)
            raise InputError("partition", of="Setting", allowed=allowed, got=self.partition)
        if not 1 <= self.devices <= SAMPLES:
            allowed = f"an int in [1, {SAMPLES}]"
            raise InputError("devices", of="Setting", allowed=allowed, got=self.devices)
        for name, value in (("batch", self.batch), ("seeds", self.seeds), ("rounds", self.rounds)):
            if value < 1:
                raise InputError(name, of="Setting", allowed="an int of at least 1", got=value)
        # The theorem's own checks of eta, q1, tau and mu, before anything is trained.
        self.bound(
            theory.Problem(
                mu=self.regulariser,
                smoothness=self.regulariser,
                gradient_bound=0,
                heterogeneity=0,
                dimension=1,
                distance0=0,
            ),
            eps=0,
        )

    def bound(self, problem: theory.Problem, *, eps: float) -> Array:
        """Theorem 1 for this setting, for t = 0 ... rounds."""
        return theory.bound(
            problem, rounds=self.rounds, tau=self.tau, eta=self.step, q1=self.q1, eps=eps
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Measured curves and their bounds; entry t is before round t, the last one is the end.

    problem:        the constants, G and distance0 among them
    eps:            the largest of all rounds and seeds; 0 for a lossless broadcast
    distance:       mean over the seeds of ||theta(t) - theta*||^2
    distance_bound: Theorem 1
    gap:            mean over the seeds of F(theta(t)) - F*
    gap_bound:      Corollary 1
    """

    setting: Setting
    problem: theory.Problem
    eps: float
    distance: tuple[float, ...]
    distance_bound: tuple[float, ...]
    gap: tuple[float, ...]
    gap_bound: tuple[float, ...]

    @property
    def holds(self) -> bool:
        """Whether both bounds hold at every t; at t = 0 the first is an equality."""
        slack = 1 + 1e-12  # the mean of equal numbers is rounded
        return all(
            measured <= slack * limit
            for measured, limit in (
                *zip(self.distance, self.distance_bound, strict=True),
                *zip(self.gap, self.gap_bound, strict=True),
            )
        )

    @property
    def looseness(self) -> float:
        """Bound / measured distance at the end."""
        return self.distance_bound[-1] / self.distance[-1]

    @property
    def least_looseness(self) -> float:
        """The smallest bound / measured distance of all t > 0."""
        pairs = zip(self.distance[1:], self.distance_bound[1:], strict=True)
        return min(limit / measured for measured, limit in pairs)

    @property
    def gap_looseness(self) -> float:
        """Bound / measured loss above the optimum at the end."""
        return self.gap_bound[-1] / self.gap[-1]

    @property
    def remaining(self) -> float:
        """Bound at the end / distance at the start; from 1 on the bound promises no progress."""
        return self.distance_bound[-1] / self.problem.distance0


def default_settings() -> list[Setting]:
    """Four q1, two tau, two partitions, a constant and a falling step size."""
    return [
        Setting(q1=q1, tau=tau, partition=partition, step=step)
        for tau in (1, 4)
        for partition in get_args(Partition)
        for step in (Step(first=0.1 / tau), Step(first=0.2 / tau, half=50))
        for q1 in (None, 1, 2, 5)
    ]


def small_settings() -> list[Setting]:
    """The same choices with five devices, few rounds and two seeds: a few seconds."""
    return [
        Setting(
            q1=setting.q1,
            tau=setting.tau,
            partition=setting.partition,
            step=setting.step,
            devices=5,
            rounds=12,
            batch=10,
            seeds=2,
        )
        for setting in default_settings()
    ]


def run(settings: Sequence[Setting]) -> list[Outcome]:
    """Every setting trained with all its seeds, and its bounds."""
    return [_outcome(setting) for setting in settings]


def sheet(outcomes: Sequence[Outcome]) -> Sheet:
    """A line for every outcome: constants, then measured values and bounds after the last round."""
    columns = ("tau", "partition", "eta", "q1", "G^2", "eps", "distance", "bound", "/ start")
    columns += ("/ measured", "least", "F - F*", "bound", "/ measured", "holds")
    return Sheet(
        title=f"Theorem 1 and Corollary 1 after the last round ({ASSUMPTIONS})",
        columns=columns,
        rows=[_row(outcome) for outcome in outcomes],
    )


def plot(outcomes: Sequence[Outcome], path: Path) -> None:
    """Write the figure: the distance (solid) and its bound (dashed), a row of panels for each tau."""
    figures = require("matplotlib.figure", extra="report")
    taus = sorted({outcome.setting.tau for outcome in outcomes})
    cases = list(dict.fromkeys((o.setting.partition, o.setting.step.half) for o in outcomes))
    size = (3.6 * len(cases), 3.0 * len(taus) + 1.2)
    figure = figures.Figure(figsize=size, layout="constrained")
    panels = figure.subplots(len(taus), len(cases), sharex=True, sharey=True, squeeze=False)
    for outcome in outcomes:
        setting = outcome.setting
        row, column = taus.index(setting.tau), cases.index((setting.partition, setting.step.half))
        _draw(panels[row, column], outcome)
    for panel in panels[-1]:
        panel.set_xlabel("round t")
    for panel in panels[:, 0]:
        panel.set_ylabel("||theta(t) - theta*||²")
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels) or 1)
    figure.suptitle(
        "LFL on l2-regularised logistic regression (digits): measured (solid), Theorem 1 (dashed)\n"
        f"assumes {ASSUMPTIONS}"
    )
    figure.savefig(path, dpi=110)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trace:
    """One seed's run: the curves, and the largest E||g||^2 and eps met."""

    distance: Array
    gap: Array
    mean_square: float
    eps: float


def _outcome(setting: Setting) -> Outcome:
    key = (setting.partition, setting.devices, setting.regulariser)
    best = optimum(*key)
    traces = [_train(setting, task(*key), best, seed) for seed in range(setting.seeds)]
    problem = theory.Problem(
        mu=setting.regulariser,
        smoothness=best.smoothness,
        gradient_bound=math.sqrt(max(trace.mean_square for trace in traces)),
        heterogeneity=best.heterogeneity,
        dimension=best.theta.size,
        distance0=float(np.sum(best.theta**2)),
    )
    eps = max(trace.eps for trace in traces)
    limit = setting.bound(problem, eps=eps)
    distance = np.mean([trace.distance for trace in traces], axis=0)
    gap = np.mean([trace.gap for trace in traces], axis=0)
    return Outcome(
        setting=setting,
        problem=problem,
        eps=eps,
        distance=tuple(distance.tolist()),
        distance_bound=tuple(limit.tolist()),
        gap=tuple(gap.tolist()),
        gap_bound=tuple((best.smoothness / 2 * limit).tolist()),
    )


def _train(setting: Setting, data: Task, best: Optimum, seed: int) -> _Trace:
    """Algorithm 1 with an exact uplink."""
    theta = np.zeros_like(best.theta)
    theta_hat = theta  # the first broadcast is exact
    distance, gap = np.empty(setting.rounds + 1), np.empty(setting.rounds + 1)
    largest_square = largest_eps = 0.0
    for t in range(setting.rounds + 1):
        distance[t] = np.sum((theta - best.theta) ** 2)
        gap[t] = data.shares @ data.losses(theta) - best.loss
        if t == setting.rounds:
            break
        if setting.q1 is None:
            theta_hat = theta
        elif t > 0:
            update = (theta - theta_hat).ravel()
            largest_eps = max(largest_eps, theory.eps(update))
            theta_hat = theta_hat + _sent(update, setting.q1, seed, t).reshape(theta.shape)
        updates, square = _local_updates(setting, data, theta_hat, seed, t)
        largest_square = max(largest_square, square)
        theta = theta_hat + np.tensordot(data.shares, updates, axes=1)
    return _Trace(distance=distance, gap=gap, mean_square=largest_square, eps=largest_eps)


def _sent(update: Array, q1: int, seed: int, round: int) -> Array:
    """What the devices read from the broadcast frame."""
    rng = stream(seed, purpose="downlink", round=round)
    return decode(encode(update, Stochastic(levels=q1), rng=rng)).astype(np.float64)


def _local_updates(
    setting: Setting, data: Task, theta_hat: Array, seed: int, round: int
) -> tuple[Array, float]:
    """theta_m^{tau+1} - theta_hat of every device, and the largest E||g||^2 on the way."""
    chosen = _batches(setting, data, seed, round)
    eta = setting.step(round)
    theta = np.repeat(theta_hat[None], setting.devices, axis=0)
    largest = 0.0
    for i in range(setting.tau):
        residuals = data.residuals(theta)
        largest = max(largest, float(data.mean_squares(theta, residuals, setting.batch).max()))
        theta = theta - eta * data.batch_gradients(theta, residuals, chosen[:, i])
    return theta - theta_hat, largest


def _batches(setting: Setting, data: Task, seed: int, round: int) -> NDArray[np.int64]:
    """The samples of every device and local step; modulo is uneven by less than 2^-21."""
    bits = _bits(seed, round, setting.devices, setting.tau * setting.batch)
    chosen = bits.astype(np.int64) % data.sizes[:, None]
    return chosen.reshape(setting.devices, setting.tau, setting.batch)


@cache  # settings that differ in q1, step or partition draw the same bits
def _bits(seed: int, round: int, devices: int, count: int) -> NDArray[np.uint32]:
    """The bits of the batch streams of all devices, (devices, count)."""
    address = partial(stream, seed, purpose="batch", round=round)
    return np.array([address(device=m).bits(0, count) for m in range(devices)])


def _row(outcome: Outcome) -> tuple[str, ...]:
    setting = outcome.setting
    return (
        f"{setting.tau}",
        setting.partition,
        f"{setting.step}",
        "lossless" if setting.q1 is None else f"{setting.q1}",
        f"{outcome.problem.gradient_bound**2:.2f}",
        "" if setting.q1 is None else f"{outcome.eps:.3f}",
        f"{outcome.distance[-1]:.3f}",
        f"{outcome.distance_bound[-1]:.2f}",
        f"{outcome.remaining:.2f}",
        f"{outcome.looseness:.0f}x",
        f"{outcome.least_looseness:.2f}x",
        f"{outcome.gap[-1]:.4f}",
        f"{outcome.gap_bound[-1]:.2f}",
        f"{outcome.gap_looseness:,.0f}x",
        "yes" if outcome.holds else "NO",
    )


def _draw(panel: Any, outcome: Outcome) -> None:  # noqa: ANN401
    """One outcome's two curves; the colour says q1."""
    setting = outcome.setting
    colours = ("black", "tab:red", "tab:orange", "tab:green", "tab:blue", "tab:purple")
    colour = colours[0 if setting.q1 is None else 1 + (setting.q1 - 1) % (len(colours) - 1)]
    label = "lossless broadcast" if setting.q1 is None else f"q1 = {setting.q1}"
    rounds = range(setting.rounds + 1)
    panel.semilogy(rounds, outcome.distance, color=colour, label=label)
    panel.semilogy(rounds, outcome.distance_bound, color=colour, linestyle="dashed")
    panel.set_title(f"tau = {setting.tau}, {setting.partition}, eta = {setting.step}", fontsize=9)
