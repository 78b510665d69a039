"""What a run came to: how well it learned at its end, and its bytes.

How well is the mean of the evaluations in the last part of the run, so that one lucky round decides nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from lossyfl.report.runs import read_about
from lossyfl.results.directory import Results
from lossyfl.results.records import Round, is_number
from lossyfl.results.summary import summarize
from lossyfl.tasks.metrics import ACCURACY, Metric

LAST = 10
"""Evaluations at the end of a run whose mean is what it came to, at most: of those in its last part."""
LATE = 5
"""One of so many parts is the last: before, a short run has learned too little to be judged by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """What one run came to.

    value:     how well it learned; None if it was never evaluated, or diverged
    metric:    what the value is of, the first of its task
    down:      bytes of a round after the initial model, the mean: of a broadcast; where every participant is
               sent frames of its own, of what one of them is
    catch_up:  of `down`, what devices were sent that had missed more than the newest update
    up:        of one reply, the mean
    saving_*:  times fewer bytes than 32-bit floats, over the whole run
    """

    value: float | None
    down: float
    catch_up: float = 0.0
    up: float
    saving_down: float
    saving_up: float
    metric: Metric = ACCURACY


def outcome(folder: Path) -> RunOutcome | None:
    """What the run in a results directory came to; None without a round."""
    results = Results(folder)
    rounds = results.rounds_as_sent() if results.rounds.is_file() else []
    if not rounds:
        return None
    metric = read_about(results.about).task.metrics[0]
    late = late_values(rounds, metric) if results.state() != "diverged" else []
    later, sums = rounds[1:] or rounds, summarize(rounds)
    replies = sum(each.replies for each in later)
    receivers = max(sum(each.replies + each.late if each.copies else 1 for each in later), 1)
    return RunOutcome(
        value=fmean(late) if late else None,
        down=sum(each.handed.nbytes for each in later) / receivers,
        catch_up=sum(each.handed.catch_up for each in later) / receivers,
        up=sum(each.up.nbytes for each in later) / max(replies, 1),
        saving_down=sums.saving_down,
        saving_up=sums.saving_up,
        metric=metric,
    )


def late_values(rounds: Sequence[Round], metric: Metric = ACCURACY) -> list[float]:
    """A metric in the last part of a run, the last values of it; the very last where none is there."""
    seen = [each.metrics.get(metric.name) for each in rounds]
    there = sum(map(is_number, seen[-max(len(rounds) // LATE, 1) :]))
    return list(filter(is_number, seen))[-min(max(there, 1), LAST) :]
