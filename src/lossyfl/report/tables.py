"""The results as CSV: a line for each group, or for each round of each run."""

import csv
import io
from collections.abc import Iterable, Sequence

from lossyfl.report.groups import Group
from lossyfl.report.rows import row

HEAD = (
    "task", "scheme", "label", "seeds", "rounds", "accuracy_last", "accuracy_tail",
    "accuracy_tail_deviation", "accuracy_end", "accuracy_best", "bytes_down", "bytes_up", "saving_down",
    "saving_up", "paper_saving_down", "paper_saving_up", "bits_per_entry_down",
    "bits_per_entry_up", "saving_down_later", "paper_saving_down_later", "eps_median",
    "eps_largest", "seconds",
)  # fmt: skip

ROUNDS_HEAD = (
    "task", "scheme", "label", "seed", "round", "accuracy", "test_loss", "train_loss", "eps",
    "distance", "replies", "bytes_down", "bytes_down_unicast", "bytes_up", "raw_down", "raw_up",
    "paper_down", "paper_up", "entropy_down", "entropy_up", "carrier_down", "carrier_up", "wire_down",
    "wire_up", "seconds",
)  # fmt: skip


def csv_of_groups(groups: Sequence[Group]) -> str:
    """A line for each group, numbers in full; empty where there is nothing to say."""
    return _text(HEAD, (_group(group) for group in groups))


def csv_of_rounds(groups: Sequence[Group]) -> str:
    """A line for each round of each run."""
    return _text(ROUNDS_HEAD, (line for group in groups for line in _rounds(group)))


def _text(head: Sequence[str], lines: Iterable[Sequence[object]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(lines)
    return out.getvalue()


def _group(group: Group) -> list[object]:
    facts = row(group)
    pairs = (facts.nbytes, facts.saving, facts.paper, facts.bits)
    return [
        group.settings.task,
        group.settings.scheme,
        facts.label,
        " ".join(map(str, facts.seeds)),
        facts.rounds,
        facts.last,
        facts.tail,
        facts.spread,
        facts.end,
        facts.best,
        *(side for pair in pairs for side in (pair.down, pair.up)),
        *facts.later,
        *facts.eps,
        facts.seconds,
    ]


def _rounds(group: Group) -> Iterable[list[object]]:
    for run in group.runs:
        for r in run.rounds:
            yield [
                run.settings.task,
                run.settings.scheme,
                group.label,
                run.settings.seed,
                *(r.round, r.accuracy, r.test_loss, r.train_loss, r.eps, r.distance, r.replies),
                *(r.down.nbytes, r.down.unicast, r.up.nbytes, r.down.raw, r.up.raw),
                *(r.down.paper, r.up.paper, r.down.entropy, r.up.entropy),
                *(r.down.carrier, r.up.carrier, r.down.wire, r.up.wire, r.seconds.total),
            ]
