"""Runs of the same settings that differ in the seed only are one group, drawn as one curve."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lossyfl.errors import InputError
from lossyfl.registry import items
from lossyfl.report.runs import Run
from lossyfl.results.experiment import KEYS, Experiment
from lossyfl.results.records import Round
from lossyfl.results.task_facts import united
from lossyfl.tasks.metrics import Metric

FAMILIES = ("lossless", "lb", "lfl", "lgm", "ltgm")
"""The paper's systems, in the order in which they are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Runs of one set of settings, in the order of their seeds.

    label: the scheme, and whatever else tells it from other groups of its task
    name:  of its task, and how that was asked for where it tells it from others of the name
    """

    label: str
    runs: tuple[Run, ...]
    name: str = ""

    @property
    def task(self) -> str:
        """What its task is called."""
        return self.name or self.settings.task

    @property
    def settings(self) -> Experiment:
        """Of all its runs, but for the seed."""
        return self.runs[0].settings

    @property
    def family(self) -> str:
        """The scheme without its options."""
        return family(self.settings)

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """What was measured, the most important one first."""
        return united([run.about.task.metrics for run in self.runs])

    @property
    def metric(self) -> Metric:
        """The most important of them."""
        return self.metrics[0]

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of its runs, in order."""
        return tuple(run.settings.seed for run in self.runs)

    @property
    def running(self) -> bool:
        """Whether a run of it goes on."""
        return any(run.about.state == "running" for run in self.runs)

    @property
    def to_each(self) -> bool:
        """Whether every device was sent a copy of its own."""
        return any(record.copies is not None for run in self.runs for record in run.rounds)


def group(runs: Iterable[Run]) -> list[Group]:
    """The groups by task, the paper's systems first, then by name."""
    together: defaultdict[Experiment, list[Run]] = defaultdict(list)
    for run in runs:
        own = together[replace(run.settings, seed=0)]
        if not _is_there(run, own):
            own.append(run)
    chosen = sorted(together, key=_order)
    tasks = _task_names({own.task: together[own][0].about.task.name for own in chosen})
    return [
        Group(
            label=_label(settings, [other for other in chosen if other.task == settings.task]),
            name=tasks[settings.task],
            runs=tuple(sorted(together[settings], key=lambda run: (run.settings.seed, run.name))),
        )
        for settings in chosen
    ]


def _task_names(own: Mapping[str, str]) -> dict[str, str]:
    """What tasks are called, by how they were asked for: their own names, where those tell them apart."""
    count = Counter(own.values())
    return {
        asked: f"{name} ({asked})" if name and count[name] > 1 and name != asked else name or asked
        for asked, name in own.items()
    }


def _is_there(run: Run, others: Sequence[Run]) -> bool:
    """Whether the same run is there already; raises if it is one of the same seed that came out otherwise."""
    for other in others:
        if other.settings.seed != run.settings.seed:
            continue
        if not _same(run.rounds, other.rounds):
            allowed = "one run of each seed"
            got = f"{other.name} and {run.name} with the same settings"
            raise InputError(f"seed {run.settings.seed}", of="a report", allowed=allowed, got=got)
        return True
    return False


def _same(one: Sequence[Round], other: Sequence[Round]) -> bool:
    """Whether they came out alike; a run to which rounds were added has evaluations in between."""
    return len(one) == len(other) and all(
        _outcome(a) == _outcome(b) and (a.metrics == b.metrics or not (a.metrics and b.metrics))
        for a, b in zip(one, other, strict=True)
    )


def _outcome(record: Round) -> tuple[object, ...]:
    """What the same run does again."""
    return record.train_loss, record.down.nbytes, record.up.nbytes


def family(settings: Experiment) -> str:
    """The scheme without its options."""
    return settings.scheme.partition(":")[0]


def _order(settings: Experiment) -> tuple[object, ...]:
    name = family(settings)
    place = FAMILIES.index(name) if name in FAMILIES else len(FAMILIES)
    rest = [_natural(str(getattr(settings, key))) for key in KEYS]
    return (settings.task, place, _natural(settings.scheme), rest)


def _natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """A key by which q1=2 comes before q1=10."""
    parts = re.split(r"(\d+)", text)
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts)


def _label(settings: Experiment, task: Sequence[Experiment]) -> str:
    """The scheme, and the settings in which it differs from others of that scheme.

    What the server does alike for all schemes, such as its optimizer, tells none from the others.
    """
    own = [text for text in _options(settings) if not _alike(text, task)]
    scheme = ":".join(filter(None, (family(settings), ",".join(own))))
    same = [other for other in task if other.scheme == settings.scheme]
    names = [key for key in KEYS if len({getattr(other, key) for other in same}) > 1]
    if "evaluate" not in names and len({other.evaluate for other in task}) > 1:
        names.append("evaluate")  # another model's metric is another number
    told = [f"{name.replace('_', ' ')} {getattr(settings, name)}" for name in names]
    return ", ".join([scheme, *told])


def _alike(text: str, task: Sequence[Experiment]) -> bool:
    """Whether it is an option of the server, and all schemes have it."""
    if not text.startswith("server_") or len(task) < 2:
        return False
    return all(text in _options(other) for other in task)


def _options(settings: Experiment) -> list[str]:
    return list(items(settings.scheme.partition(":")[2]))
