"""The link rate at which compression breaks even, in the median round.

Below it a link is slow enough that sending the saved bytes would take longer than coding did:

    8 (raw - real) / rate > coding   holds for   rate < 8 (raw - real) / coding
"""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

from lossyfl.report.groups import Group
from lossyfl.report.link import coding_down, coding_up
from lossyfl.report.runs import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakEven:
    """One direction of a group, in its median round.

    saved:   bytes fewer than 32-bit floats, of the broadcast or of the longest reply
    seconds: spent on coding
    """

    saved: float
    seconds: float

    @property
    def rate(self) -> float | None:
        """Bits per second below which compression saves time; None if nothing was saved."""
        if self.saved <= 0:
            return None
        return 8 * self.saved / self.seconds if self.seconds > 0 else float("inf")


def downlink(group: Group) -> BreakEven:
    """Of the broadcast, sent once for all; of all copies, where every device is sent its own."""

    def saved(run: Run) -> list[float]:
        return [record.handed.raw - record.handed.nbytes for record in run.rounds]

    return _median(group, saved, lambda run: [coding_down(record) for record in run.rounds])


def uplink(group: Group) -> BreakEven:
    """Of the longest reply."""

    def saved(run: Run) -> list[float]:
        pairs = zip(run.rounds, run.longest, strict=True)
        return [record.up.raw / max(record.replies, 1) - reply for record, reply in pairs]

    return _median(group, saved, lambda run: [coding_up(record) for record in run.rounds])


def _median(
    group: Group, saved: Callable[[Run], list[float]], spent: Callable[[Run], list[float]]
) -> BreakEven:
    less = [value for run in group.runs for value in saved(run)]
    seconds = [value for run in group.runs for value in spent(run)]
    return BreakEven(saved=median(less or [0.0]), seconds=median(seconds or [0.0]))
