"""What `lossyfl bound` runs: one line of its table, and all combinations of several values.

A setting outside of the theorem's conditions is refused when it is made, before anything is loaded.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from lossyfl import theory
from lossyfl.compressors.levels import levels
from lossyfl.errors import InputError
from lossyfl.experiments.logistic import Source
from lossyfl.experiments.regression import Array
from lossyfl.quantizers.stochastic import Stochastic
from lossyfl.results.experiment import Experiment
from lossyfl.results.settings import settings_of
from lossyfl.tasks.partitions import partition as check_partition
from lossyfl.tasks.steps import step

EXACT = "exact"
"""The q of a direction that is not quantized."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundSetting:
    """One line of the table: what is trained, and how.

    q1, q2:      levels of the broadcast and of the replies, also by round as 8@0/2@50; or exact
    tau:         local steps in a round
    eta:         the step size, also by round (`lossyfl.tasks.steps`); in (0, min(1, 1 / (lambda tau))]
    partition:   which device has which samples (`lossyfl.tasks.partitions`)
    task:        whose training samples are classified
    samples:     how many of them; all if None
    batch:       samples of a local step, drawn with replacement
    seeds:       runs that the measured curves are the mean of
    regulariser: lambda
    """

    q1: str
    tau: int
    partition: str
    eta: str
    q2: str = EXACT
    task: str = "digits"
    samples: int | None = None
    devices: int = 20
    rounds: int = 120
    batch: int = 20
    seeds: int = 5
    regulariser: float = 0.1

    def __post_init__(self) -> None:
        known = settings_of(Experiment)
        for name in ("devices", "rounds", "batch"):
            known[name].check(name, getattr(self, name))
        if self.seeds < 1:
            raise InputError("seeds", of="bound", allowed="an int >= 1", got=self.seeds)
        check_partition(self.partition)
        self.quantizers(self.q2)
        # The theorem's own checks of eta, q1, tau and mu, before anything is loaded or trained.
        nothing = theory.Problem(
            mu=self.regulariser,
            smoothness=self.regulariser,
            gradient_bound=0,
            heterogeneity=0,
            dimension=1,
            distance0=0,
        )
        self.bound(nothing, eps=0.0, uplink=theory.EXACT)

    def bound(self, problem: theory.Problem, *, eps: theory.Rate, uplink: theory.Uplink) -> Array:
        """The bound on the distance for this setting, for t = 0 ... rounds."""
        at = self.quantizers(self.q1)
        return theory.bound(
            problem,
            rounds=self.rounds,
            tau=self.tau,
            eta=step(self.eta).at,
            q1=None if at is None else lambda t: at(t).levels,
            eps=eps,
            uplink=uplink,
        )

    @staticmethod
    def quantizers(q: str) -> Callable[[int], Stochastic] | None:
        """The quantizer of every round, none for an exact direction."""
        if q == EXACT:
            return None
        return levels(q, "model").at  # pyright: ignore[reportReturnType] - all of it are Stochastic

    def source(self, data_dir: Path | None = None) -> Source:
        """The samples, and who has them."""
        return Source(
            task=self.task,
            samples=self.samples,
            partition=self.partition,
            devices=self.devices,
            regulariser=self.regulariser,
            data_dir=data_dir,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """All combinations of these, each with the same `base`; `etas` None are two that suit tau."""

    taus: Sequence[int] = (1, 4)
    partitions: Sequence[str] = ("iid", "paper")
    etas: Sequence[str] | None = None
    q1s: Sequence[str] = (EXACT, "1", "2", "5")
    q2s: Sequence[str] = (EXACT,)

    def settings(self, make: Callable[..., BoundSetting] = BoundSetting) -> list[BoundSetting]:
        """Every combination as a setting."""
        return [
            make(q1=q1, q2=q2, tau=tau, partition=partition, eta=eta)
            for tau, partition in product(self.taus, self.partitions)
            for eta, q2, q1 in product(self.etas or _etas(tau), self.q2s, self.q1s)
        ]


def _etas(tau: int) -> tuple[str, str]:
    """A constant step size and one that falls like 1/t, which move as far in a round for any tau."""
    return f"{0.1 / max(tau, 1):g}", f"inverse:start={0.2 / max(tau, 1):g},after=50"
