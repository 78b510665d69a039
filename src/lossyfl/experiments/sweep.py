"""Settings crossed, over seeds: planned once, run side by side, stopped and repeated at will.

    result = sweep({"q1": [1, 2, 5], "tau": [1, 4]}, base=Experiment(scheme="lfl"), seeds=3)

Every run has a folder that is named by what it is, so nothing is run twice: not what is complete, not two
points that are the same experiment, and not what an earlier sweep had in common with this one.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lossyfl.errors import InputError, Interrupted
from lossyfl.experiments.compare import Planned, check, check_folder
from lossyfl.experiments.grid import Axis, GridPoint, axes_of, grid
from lossyfl.experiments.outcome import RunOutcome, outcome
from lossyfl.experiments.side_by_side import Listener, play_side_by_side
from lossyfl.protocol.schemes import scheme
from lossyfl.registry import from_outside, paths
from lossyfl.results.directory import Results
from lossyfl.results.experiment import KEYS, Experiment, slug
from lossyfl.simulation.setup import load_task, resolve
from lossyfl.simulation.warm import default_workers
from lossyfl.simulation.words import check_words
from lossyfl.tasks import check_data
from lossyfl.tasks.metrics import ACCURACY, Metric

OF = "a sweep"
NAME = 80
"""Characters of a folder's name before the seed."""

__all__ = ["SweepPlan", "SweepPoint", "SweepResult", "plan_sweep", "result_of", "sweep"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPoint:
    """One combination of values, or the baseline beside some.

    values:   of the axes, in their order; empty for those that the baseline does not have
    runs:     one for each seed; points that are the same experiment have the same ones
    baseline: the place of its baseline among those of the plan; None for one itself, or where there is none
    """

    values: tuple[str, ...]
    runs: tuple[Planned, ...]
    baseline: int | None = None

    @property
    def outcomes(self) -> tuple[RunOutcome | None, ...]:
        """What its runs came to, by seed; None where nothing is there yet."""
        return tuple(outcome(run.folder) for run in self.runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPlan:
    """All that a sweep runs.

    baselines: what points are compared with, each once
    """

    axes: tuple[Axis, ...]
    points: tuple[SweepPoint, ...]
    baselines: tuple[SweepPoint, ...] = ()

    @property
    def runs(self) -> list[Planned]:
        """Each once, seed by seed, so that every point has its first one early."""
        every = [*self.baselines, *self.points]
        seeds = len(every[0].runs)
        found: dict[Path, Planned] = {}
        for run in (point.runs[k] for k in range(seeds) for point in every):
            found.setdefault(run.folder, run)
        return list(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepResult:
    """What a sweep came to; `sweep_table` and `sweep_figures` show it.

    outcomes: of every point, by seed; of baselines likewise
    """

    plan: SweepPlan
    outcomes: tuple[tuple[RunOutcome | None, ...], ...]
    baselines: tuple[tuple[RunOutcome | None, ...], ...] = ()

    @property
    def axes(self) -> tuple[Axis, ...]:
        """What was crossed."""
        return self.plan.axes

    @property
    def metric(self) -> Metric:
        """What was measured: the first metric of the runs' tasks, which all share."""
        every = (
            each for outcomes in (*self.outcomes, *self.baselines) for each in outcomes if each
        )
        return next((each.metric for each in every), ACCURACY)

    def values(self, point: int) -> list[float | None]:
        """How well the runs of a point learned, by seed."""
        return [each and each.value for each in self.outcomes[point]]


def sweep(
    axes: Mapping[str, Sequence[object]],
    *,
    base: Experiment | None = None,
    seeds: int = 1,
    baseline: str = "",
    out: Path = Path("runs/sweep"),
    data_dir: Path | None = None,
    jobs: int | None = None,
    listener: Listener | None = None,
) -> SweepResult:
    """Run an experiment for every combination of values, each over some seeds.

    base:     the settings that are not crossed; what suits the task where nothing is said
    baseline: a scheme that every point is compared with, at its own other settings
    jobs:     runs at a time, each on one core; as many as there are cores if nothing is said
    """
    plan = plan_sweep(axes_of(axes), base or Experiment(), seeds, out, baseline, data_dir=data_dir)
    left = [run for run in plan.runs if not (run.is_complete or run.has_diverged)]
    check(plan.runs, data_dir)
    with Results(out).locked():
        count = min(jobs or default_workers(), max(len(left), 1))
        done = play_side_by_side(left, jobs=count, workers=1, data_dir=data_dir, listener=listener)
    if not done:
        raise Interrupted(f"the sweep in {out} was stopped; the same call goes on")
    return result_of(plan)


def result_of(plan: SweepPlan) -> SweepResult:
    """What is written of the runs of a plan, complete or not."""
    return SweepResult(
        plan=plan,
        outcomes=tuple(point.outcomes for point in plan.points),
        baselines=tuple(point.outcomes for point in plan.baselines),
    )


def plan_sweep(
    axes: Sequence[Axis],
    base: Experiment,
    seeds: int,
    out: Path,
    baseline: str = "",
    *,
    data_dir: Path | None = None,
) -> SweepPlan:
    """All runs of a sweep; raises before the first if anything about one of them is wrong."""
    if seeds < 1:
        raise InputError("seeds", of=OF, allowed="an int >= 1", got=seeds)
    found = grid(axes, base)
    beside = [_beside(point, axes, baseline) for point in found] if baseline else []
    check_all([each.experiment for each in (*found, *beside)], data_dir)
    tasks = {spec: load_task(spec, data_dir) for spec in {p.experiment.task for p in found}}

    def made(point: GridPoint, compared: int | None = None) -> SweepPoint:
        chosen = resolve(point.experiment, tasks[point.experiment.task])
        runs = tuple(_planned(chosen, k, point, axes, out) for k in range(seeds))
        return SweepPoint(values=point.values, runs=runs, baseline=compared)

    others: dict[tuple[Path, ...], tuple[int, SweepPoint]] = {}
    places: list[int | None] = []
    for each in beside:
        point = made(each)
        key = tuple(run.folder for run in point.runs)
        place, _ = others.setdefault(key, (len(others), point))
        places.append(place)
    points = [made(p, at) for p, at in zip(found, places or [None] * len(found), strict=True)]
    baselines = tuple(point for _, point in others.values())
    return SweepPlan(axes=tuple(axes), points=tuple(points), baselines=baselines)


def check_all(experiments: Sequence[Experiment], data_dir: Path | None) -> None:
    """Raise if a word of any of them is wrong, or its data not there."""
    for each in dict.fromkeys(experiments):
        check_words(each)
    for task in dict.fromkeys(each.task for each in experiments):
        check_data(task, data_dir)


def identity(chosen: Experiment) -> tuple[str, ...]:
    """The same for all spellings of a settled experiment: what is not the default, but for the seed."""
    usual = Experiment()
    own = {name: getattr(chosen, name) for name in KEYS if name not in ("seed", "scheme")}
    own = {name: value for name, value in own.items() if value != getattr(usual, name)}
    texts = [f"{name}={_plain(value)}" for name, value in sorted(own.items())]
    return (scheme(chosen.scheme).spec, *texts)


def _plain(value: object) -> object:
    """A number that is written as a text, in one way."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return "".join(str(value).split())


def _beside(point: GridPoint, axes: Sequence[Axis], baseline: str) -> GridPoint:
    """The baseline with the other settings of a point: values of its scheme's options do not count."""
    values = tuple(
        value if axis.name in KEYS and axis.name != "scheme" else ""
        for axis, value in zip(axes, point.values, strict=True)
    )
    return GridPoint(values=values, experiment=replace(point.experiment, scheme=baseline))


def _planned(
    chosen: Experiment, k: int, point: GridPoint, axes: Sequence[Axis], out: Path
) -> Planned:
    """The run of one seed, as it is written down if it has begun."""
    mine = replace(chosen, seed=chosen.seed + k)
    own = identity(mine)
    digest = hashlib.sha256("\n".join(own).encode()).hexdigest()[:10]
    folder = out / f"{slug(own[0])[:NAME]}-{mine.seed}-{digest}"
    if (results := Results(folder)).config.is_file():
        with from_outside(paths(mine.scheme), "not here: {}"):
            stored = results.read_config()
            same = identity(stored) == own
        mine = stored if same else mine  # the same in another spelling
    said = [f"{axis.name}={value}" for axis, value in zip(axes, point.values, strict=True) if value]
    label = f"{' '.join(said) or chosen.scheme}, seed {mine.seed}"
    planned = Planned(experiment=mine, folder=folder, label=label)
    check_folder(planned)
    return planned
