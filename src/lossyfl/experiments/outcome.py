"""What a run came to: how well it learned at its end, and its bytes.

How well is the mean of the evaluations in the last part of the run, so that one lucky round decides nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from lossyfl.report.text import MISSING
from lossyfl.results.directory import Results
from lossyfl.results.records import Round, is_number
from lossyfl.results.summary import summarize

LAST = 10
"""Evaluations at the end of a run whose mean is what it came to, at most: of those in its last part."""
LATE = 5
"""One of so many parts is the last: before, a short run has learned too little to be judged by."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """What is measured of a model: its name, its unit, and whether more of it is better.

    sign:  1 where more is better, -1 where less is
    parts: whether values are fractions of a test set, shown in percent
    """

    name: str = "accuracy"
    unit: str = "%"
    sign: int = 1
    parts: bool = True

    def number(self, value: float) -> str:
        """A value without its unit.

        >>> ACCURACY.number(0.9722), ACCURACY.number(-0.0014)
        ('97.22', '-0.14')
        """
        return f"{100 * value:.2f}" if self.parts else f"{value:.4g}"

    def text(self, value: float | None) -> str:
        """A value for people.

        >>> ACCURACY.text(0.9722), ACCURACY.text(None)
        ('97.22 %', '-')
        """
        return MISSING if value is None else f"{self.number(value)} {self.unit}".strip()

    @property
    def apart(self) -> str:
        """The unit of differences."""
        return "points" if self.parts else self.unit


ACCURACY = Measure()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOutcome:
    """What one run came to.

    value:     how well it learned; None if it was never evaluated, or diverged
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


def outcome(folder: Path) -> RunOutcome | None:
    """What the run in a results directory came to; None without a round."""
    results = Results(folder)
    rounds = results.rounds_as_sent() if results.rounds.is_file() else []
    if not rounds:
        return None
    late = late_values(rounds) if results.state() != "diverged" else []
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
    )


def value_of(record: Round) -> float | None:
    """What was measured in a round; None if it was not evaluated."""
    return record.accuracy


def late_values(rounds: Sequence[Round]) -> list[float]:
    """What was measured in the last part of a run, the last ones; the very last where none is there."""
    late = rounds[-max(len(rounds) // LATE, 1) :]
    values = [value for each in rounds if is_number(value := value_of(each))]
    there = sum(is_number(value_of(each)) for each in late)
    return values[-min(max(there, 1), LAST) :]
