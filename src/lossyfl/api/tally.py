"""How a run stands, in as many words as there is room for."""

import time
from typing import TYPE_CHECKING

from lossyfl.api.pace import Remaining, remaining
from lossyfl.report.text import duration, size, size_down
from lossyfl.tasks.metrics import ACCURACY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lossyfl.results.records import Round
    from lossyfl.simulation.setup import Setup

BAR = 20
"""Characters of a full bar."""


class RunTally:
    """Sums over the rounds so far, as text."""

    def __init__(self) -> None:
        self.setup: Setup | None = None
        self.rounds = self.down = self.up = self.raw_down = self.raw_up = 0
        self.catch_up = 0
        self.metrics: Mapping[str, float] = {}
        self.loss: float | None = None
        self.before = 0
        self._begin = time.monotonic()

    def start(self, setup: "Setup", done: "Sequence[Round]") -> None:
        """Begin with what was done before."""
        self.setup = setup
        for record in done:
            self.add(record)
        self.before = self.rounds

    @property
    def total(self) -> int:
        """The rounds of the run."""
        return self.setup.rounds if self.setup else 0

    @property
    def left(self) -> Remaining:
        """The rounds that are left."""
        return self._after(self.rounds)

    @property
    def whole(self) -> Remaining:
        """All rounds of a run like this."""
        return self._after(0)

    def _after(self, done: int) -> Remaining:
        assert self.setup is not None
        chosen = self.setup.experiment
        return remaining(self.total, done, every=chosen.evaluate_every, last=chosen.evaluate_last)

    def add(self, record: "Round") -> None:
        """Count one more round."""
        self.rounds = record.round + 1
        self.down += record.handed.nbytes
        self.catch_up += record.handed.catch_up
        self.up += record.up.nbytes
        self.raw_down += record.handed.raw
        self.raw_up += record.up.raw
        self.loss = record.train_loss
        self.metrics = record.metrics or self.metrics

    def title(self) -> str:
        """What is run."""
        assert self.setup is not None
        chosen, entries = self.setup.experiment, len(self.setup.theta)
        title = (
            f"{self.setup.task.name}, {chosen.scheme}: {entries:,} parameters, {self.setup.devices:,} "
            f"devices, partition {chosen.partition}"
        )
        if self.setup.scheme.name != "lean" or self.setup.scheme.first is not None:
            return title
        return f"{title}; the initial model, {size(4 * entries)}, is in no budget (first_budget)"

    def line(self, width: int | None, left: str, run: str = "") -> str:
        """How it stands: round, metrics, savings and time left, and what else there is room for.

        width: characters; None for a file, which has room for everything but a bar
        left:  the time, as text
        run:   which of many, empty for the only one
        """
        head = f"{run}round {self.rounds}/{self.total}"
        first, *more = self.setup.task.metrics if self.setup else (ACCURACY,)
        number = first.text(self.metrics.get(first.name))
        metric = f"{first.name} {number}"
        rest = [f"{each.name} {each.text(self.metrics.get(each.name))}" for each in more]
        loss = "" if self.loss is None else f"loss {self.loss:.4f}"
        down, up = saving(self.raw_down, self.down), saving(self.raw_up, self.up)
        short = (f"down {down}", f"up {up}")
        long = (f"down {size(self.down)} ({down})", f"up {size(self.up)} ({up})")
        full = (f"down {size_down(self.down, self.catch_up)} ({down})", long[1])
        spent = duration(time.monotonic() - self._begin)
        choices = (
            (head, self._bar(), metric, *rest, loss, *full, spent, left),
            (head, metric, *rest, loss, *full, spent, left),
            (head, metric, *rest, loss, *long, spent, left),
            (head, metric, loss, *long, left),
            (head, metric, *long, left),
            (head, metric, *short, left),
            (head, number, *short, left),
        )
        texts = ["  ".join(filter(None, choice)) for choice in choices]
        if width is None:
            return texts[1]
        return next((text for text in texts if len(text) <= width), texts[-1])

    def _bar(self) -> str:
        full = round(BAR * self.rounds / max(self.total, 1))
        return "━" * full + "·" * (BAR - full)


def saving(raw: int, real: int) -> str:
    """How many times fewer bytes."""
    return f"{raw / real:.1f}x" if real else "-"


def time_left(seconds: float | None) -> str:
    """The time that is left, as text; empty if there is none, or nothing is known yet.

    >>> time_left(75), time_left(None)
    ('1:15 min left', '')
    """
    return f"{duration(seconds)} left" if seconds else ""
