"""A sweep whose outcomes are made up: nothing is trained."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from tests.commands.test_run import TINY

from lossyfl.experiments.grid import axes_of
from lossyfl.experiments.outcome import RunOutcome
from lossyfl.experiments.sweep import SweepPlan, SweepResult, plan_sweep
from lossyfl.results.experiment import Experiment


def came_to(value: float | None) -> RunOutcome:
    return RunOutcome(value=value, down=100, up=50, saving_down=10, saving_up=20)


def planned(
    out: Path, axes: Mapping[str, Sequence[object]], seeds: int = 3, baseline: str = ""
) -> SweepPlan:
    return plan_sweep(axes_of(axes), Experiment(task=TINY), seeds, out, baseline)


def made_up(
    plan: SweepPlan, values: Sequence[Sequence[float | None]], baseline: Sequence[float] = ()
) -> SweepResult:
    """The result with these values for each point, by seed."""
    return SweepResult(
        plan=plan,
        outcomes=tuple(tuple(came_to(value) for value in own) for own in values),
        baselines=tuple(tuple(came_to(v) for v in baseline) for _ in plan.baselines),
    )


def without(result: SweepResult, point: int) -> SweepResult:
    """The same before a point has begun."""
    outcomes = list(result.outcomes)
    outcomes[point] = tuple(None for _ in outcomes[point])
    return replace(result, outcomes=tuple(outcomes))
