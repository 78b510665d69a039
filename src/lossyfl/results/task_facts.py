"""What the results of a run say of its task, its name and its metrics, so that a report need not load it.

In run.json:

    "task": {"name": "waves", "metrics": [{"name": "accuracy", "better": "higher", "unit": "%"}]}
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from lossyfl.errors import InputError
from lossyfl.tasks.metrics import ACCURACY, Better, Metric, check_names

if TYPE_CHECKING:
    from lossyfl.tasks.base import Task

KEYS = ("name", "better", "unit")
MOST = 100
"""Metrics of one task."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFacts:
    """A task's own name, empty if nobody said it, and its metrics, the most important one first."""

    name: str = ""
    metrics: tuple[Metric, ...] = (ACCURACY,)

    @classmethod
    def of(cls, task: "Task") -> "TaskFacts":
        """Those of a task."""
        return cls(name=task.name, metrics=tuple(plain(metric) for metric in task.metrics))

    def json(self) -> dict[str, object]:
        """As run.json has them."""
        metrics = [{key: getattr(each, key) for key in KEYS} for each in self.metrics]
        return {"name": self.name, "metrics": metrics}


UNSAID = TaskFacts()
"""Of results of versions that knew no metric but the accuracy."""


def plain(metric: Metric) -> Metric:
    """A metric without what reckons it."""
    return Metric(name=metric.name, better=metric.better, unit=metric.unit)


def parsed(facts: object, *, of: str) -> TaskFacts:
    """The facts in a file, which anybody may have written."""
    try:
        known = cast("dict[str, object]", facts)
        name, listed = known["name"], cast("list[dict[str, str]]", known["metrics"])
        metrics = [_metric(each) for each in listed[:MOST]]
        check_names(metrics, of=of)
        return TaskFacts(name=_line(name), metrics=tuple(metrics))
    except (TypeError, KeyError, ValueError) as error:
        raise InputError("task", of=of, allowed="a name and metrics", got=str(error)) from error


def _metric(facts: dict[str, str]) -> Metric:
    return Metric(name=facts["name"], better=cast("Better", facts["better"]), unit=facts["unit"])


def _line(name: object) -> str:
    if not isinstance(name, str) or len(name) > 1000:
        raise ValueError("its name is no short text")
    return name.encode(errors="replace").decode()


def united(several: Sequence[Sequence[Metric]]) -> tuple[Metric, ...]:
    """All metrics of several tasks, each name once, those that are first of any task before others.

    >>> from lossyfl.tasks.metrics import KNOWN
    >>> [each.name for each in united([[KNOWN["MSE"], KNOWN["loss"]], [ACCURACY]])]
    ['MSE', 'accuracy', 'loss']
    """
    firsts = [own[0] for own in several]
    found = {each.name: each for own in several for each in own}
    return tuple(found[name] for name in dict.fromkeys([each.name for each in firsts] + [*found]))
