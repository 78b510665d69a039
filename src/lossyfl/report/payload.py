"""What the page draws, as JSON: curves of every group, rounded to what an eye can see."""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from lossyfl.report.curves import Curve, Floats, curve
from lossyfl.report.groups import Group
from lossyfl.report.link import LinkSpeeds, load
from lossyfl.report.markup import Markup
from lossyfl.report.styles import styles
from lossyfl.results.records import Round
from lossyfl.results.task_facts import united
from lossyfl.tasks.metrics import Metric

Value = Callable[[Round], float | None]
Json = dict[str, object]

BANDED: dict[str, Value] = {
    "test_loss": lambda r: r.test_loss,
    "train_loss": lambda r: r.train_loss,
    "eps": lambda r: r.eps,
    "distance": lambda r: r.distance,
    "error_down": lambda r: r.broadcast.error if r.broadcast else None,
    "error_up": lambda r: r.reply.error if r.reply else None,
    "peak_model": lambda r: r.model_peak,
    "peak_down": lambda r: r.broadcast.peak if r.broadcast else None,
    "peak_up": lambda r: r.reply.peak if r.reply else None,
    "memory": lambda r: r.memory,
    "down": lambda r: r.handed.nbytes,
    "up": lambda r: r.up.nbytes,
}
"""Drawn with a band over seeds."""

PLAIN: dict[str, Value] = {
    "catch_up": lambda r: r.handed.catch_up,
    "raw_down": lambda r: r.handed.raw,
    "raw_up": lambda r: r.up.raw,
    "paper_down": lambda r: r.handed.paper,
    "paper_up": lambda r: r.up.paper,
    "entropy_down": lambda r: r.handed.entropy,
    "entropy_up": lambda r: r.up.entropy,
    "broadcast": lambda r: r.seconds.broadcast,
    "devices": lambda r: r.seconds.devices,
    "aggregate": lambda r: r.seconds.aggregate,
    "evaluate": lambda r: r.seconds.evaluate,
    "save": lambda r: r.seconds.save,
    "total": lambda r: r.seconds.total,
    "training": lambda r: r.seconds.training,
    "coding": lambda r: r.seconds.coding,
}
"""Only the mean over seeds is drawn, or it is added up first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What whoever made the runs has to say of them, above everything else of the page."""

    title: str
    body: Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """What the viewer may want otherwise.

    title:  of the page; None is one made of the tasks
    link:   what is filled in at first
    reload: seconds after which the page loads itself anew, while runs go on
    note:   how it was made, below the title
    sections: what stands before the curves
    """

    title: str | None = None
    note: str = ""
    link: LinkSpeeds = field(default_factory=LinkSpeeds)
    reload: float | None = None
    sections: tuple[Section, ...] = ()


def payload(groups: Sequence[Group], options: Options) -> str:
    """All that the page draws; safe inside a script element."""
    link = options.link
    facts: Json = {
        "reload": options.reload,
        "link": {"downlink": link.downlink, "uplink": link.uplink, "latency": link.latency},
        "metrics": {
            task: [_metric(each) for each in united([g.metrics for g in groups if g.task == task])]
            for task in dict.fromkeys(group.task for group in groups)
        },
        "groups": [
            _group(number, group, list(style.dash))
            for number, (group, style) in enumerate(zip(groups, styles(groups), strict=True))
        ],
    }
    text = json.dumps(facts, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _group(number: int, group: Group, dash: list[float]) -> Json:
    seeds = len(group.runs)
    series: Json = {name: _banded(curve(group, value), seeds) for name, value in BANDED.items()}
    series |= {
        f"metric {each.name}": _banded(curve(group, of_metric(each)), seeds)
        for each in group.metrics
    }
    series |= {name: {"mean": _list(curve(group, v).mean)} for name, v in PLAIN.items()}
    loads = load(group)
    series |= {
        "link_unicast": {"mean": _list(loads.unicast)},
        "link_reply": {"mean": _list(loads.reply)},
        "link_training": {"mean": _list(loads.training)},
        "link_coding": {"mean": _list(loads.coding)},
    }
    return {
        "number": number,
        "task": group.task,
        "label": group.label,
        "dash": dash,
        "seeds": seeds,
        "rounds": max(len(run.rounds) for run in group.runs),
        "series": series,
    }


def of_metric(metric: Metric) -> Value:
    """A metric of a round."""
    return lambda record: record.metrics.get(metric.name)


def _metric(metric: Metric) -> Json:
    return {"name": metric.name, "better": metric.better, "unit": metric.unit}


def _banded(values: Curve, seeds: int) -> Json:
    mean: Json = {"mean": _list(values.mean)}
    return mean | {"low": _list(values.low), "high": _list(values.high)} if seeds > 1 else mean


def _list(values: Floats) -> object:
    """A list of numbers, or the one number that all of them are."""
    rounded = [_rounded(value) for value in values.tolist()]
    same = len(rounded) > 1 and all(value == rounded[0] for value in rounded)
    return rounded[0] if same and rounded[0] is not None else rounded


def _rounded(value: float) -> float | int | None:
    """Five digits; whole numbers in full, so that bytes add up."""
    if not math.isfinite(value):
        return None
    if value == np.rint(value):
        return int(value)
    return float(f"{value:.1f}") if abs(value) >= 1e5 else float(f"{value:.5g}")
