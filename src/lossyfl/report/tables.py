"""The results as CSV: a line for each group, or for each round of each run."""

import csv
import io
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import astuple

from lossyfl.errors import InputError
from lossyfl.protocol.measures import Measured
from lossyfl.report.device_table import stretches
from lossyfl.report.groups import Group
from lossyfl.report.per_device import spread
from lossyfl.report.rows import row
from lossyfl.results.task_facts import united
from lossyfl.tasks.metrics import Metric

HEAD = (
    "task", "scheme", "label", "seeds", "rounds", "metric", "last", "tail", "tail_deviation", "end", "best",
    "bytes_down", "bytes_up", "saving_down",
    "saving_up", "paper_saving_down", "paper_saving_up", "bits_per_entry_down",
    "bits_per_entry_up", "saving_down_later", "paper_saving_down_later", "eps_median",
    "eps_largest", "seconds", "bytes_catch_up", "device_down_median", "device_down_largest",
    "device_up_median", "device_up_largest",
)  # fmt: skip

ROUNDS_HEAD = (
    "task", "scheme", "label", "seed", "round", "test_loss", "train_loss", "eps", "distance",
    "replies", "bytes_down", "bytes_down_unicast", "bytes_up", "raw_down", "raw_up",
    "plain_down", "plain_up",
    "paper_down", "paper_up", "entropy_down", "entropy_up", "carrier_down", "carrier_up", "wire_down",
    "wire_up", "seconds", "peak_model", "norm_broadcast", "peak_broadcast", "error_broadcast",
    "norm_reply", "peak_reply", "error_reply", "memory", "bytes_catch_up",
)  # fmt: skip


DEVICES_HEAD = (
    "task", "scheme", "label", "seed", "device", "bytes_down", "bytes_catch_up", "bytes_up",
)  # fmt: skip
MOST_DEVICES = 1_000_000
"""Lines of a CSV of devices: a short ledger may name any number."""


def csv_of_groups(groups: Sequence[Group]) -> str:
    """A line for each group, numbers in full; empty where there is nothing to say.

    `last` to `best` are of the task's first metric; others have columns of their own, of the last evaluation.
    """
    more = metrics_of(groups)
    lines = (_group(group) + _more(group, more) for group in groups)
    return _text((*HEAD, *(f"{each.name}_last" for each in more)), lines)


def csv_of_rounds(groups: Sequence[Group]) -> str:
    """A line for each round of each run; metrics are the last columns."""
    metrics = metrics_of(groups)
    lines = (line for group in groups for line in _rounds(group, metrics))
    return _text((*ROUNDS_HEAD, *(each.name for each in metrics)), lines)


def metrics_of(groups: Sequence[Group]) -> tuple[Metric, ...]:
    """All that was measured of any of the tasks."""
    return united([group.metrics for group in groups])


def _more(group: Group, metrics: Sequence[Metric]) -> list[object]:
    """Metrics at the last evaluation, where the group has them."""
    facts = row(group)
    known = {each.name: value for each, value in ((facts.metric, facts.last), *facts.more)}
    return [known.get(each.name) for each in metrics]


def csv_of_devices(groups: Sequence[Group]) -> str:
    """A line for each device of each run that has a ledger; at most a million."""
    lines = sum(each.count for group in groups for run in group.runs for each in run.devices)
    if lines > MOST_DEVICES:
        allowed = f"of at most {MOST_DEVICES:,} devices in all"
        raise InputError("runs", of="a CSV of devices", allowed=allowed, got=f"{lines:,}")
    return _text(DEVICES_HEAD, (line for group in groups for line in _devices(group)))


def _devices(group: Group) -> Iterable[list[object]]:
    for run in group.runs:
        known = run.settings.task, run.settings.scheme, group.label, run.settings.seed
        for each in run.devices:
            for device in range(each.first, each.stop):
                yield [*known, device, each.down, each.catch_up, each.up]


def _text(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_inert(cell) for cell in line] for line in lines)
    return out.getvalue()


def _inert(cell: object) -> object:
    """A cell that no spreadsheet takes for a formula: text that begins as one has an apostrophe before it.

    >>> _inert("=1+1"), _inert(-1.5)
    ("'=1+1", -1.5)
    """
    if not isinstance(cell, str):
        return cell
    text = cell.replace("\r", " ")  # the writer leaves it bare, and readers end the line there
    first = next((c for c in cell if c.isprintable() and not c.isspace()), "")
    formula = unicodedata.normalize("NFKC", first)[:1] in (
        "=",
        "+",
        "-",
        "@",
    )  # full-width ones, too
    hidden = not cell[:1].isprintable() or cell[:1].isspace()
    return f"'{text}" if formula or hidden else text


def _group(group: Group) -> list[object]:
    facts = row(group)
    pairs = (facts.nbytes, facts.saving, facts.paper, facts.bits)
    return [
        group.task,
        group.settings.scheme,
        facts.label,
        " ".join(map(str, facts.seeds)),
        facts.rounds,
        facts.metric.name,
        facts.last,
        facts.tail,
        facts.spread,
        facts.end,
        facts.best,
        *(side for pair in pairs for side in (pair.down, pair.up)),
        *facts.later,
        *facts.eps,
        facts.seconds,
        facts.catch_up,
        *_of_a_device(group),
    ]


def _of_a_device(group: Group) -> list[float | None]:
    """The median and the largest of the bytes of a device, down and up."""
    found = stretches(group)
    if not found:
        return [None] * 4
    sides = spread(found, lambda each: each.down), spread(found, lambda each: each.up)
    return [value for side in sides for value in (side.median, side.most)]


def _rounds(group: Group, metrics: Sequence[Metric]) -> Iterable[list[object]]:
    for run in group.runs:
        for r in run.rounds:
            yield [
                group.task,
                run.settings.scheme,
                group.label,
                run.settings.seed,
                *(r.round, r.test_loss, r.train_loss, r.eps, r.distance, r.replies),
                *(r.handed.nbytes, r.down.unicast, r.up.nbytes, r.handed.raw, r.up.raw),
                *(r.down.plain, r.up.plain),
                *(r.handed.paper, r.up.paper, r.handed.entropy, r.up.entropy),
                *(r.down.carrier, r.up.carrier, r.down.wire, r.up.wire, r.seconds.total),
                r.model_peak,
                *(_measured(r.broadcast) + _measured(r.reply)),
                r.memory,
                r.handed.catch_up,
                *(r.metrics.get(each.name) for each in metrics),
            ]


def _measured(measured: Measured | None) -> list[float | None]:
    return list(astuple(measured)) if measured else [None] * 3
