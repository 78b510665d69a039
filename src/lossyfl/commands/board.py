"""How several runs go that are played side by side: a line for each, and the time that is left for all."""

import time
from collections import deque
from collections.abc import Sequence

from rich.console import Console
from rich.progress import Progress, TaskID, TextColumn
from rich.table import Column

from lossyfl.api.tally import RunTally, saving
from lossyfl.commands.output import console as terminal
from lossyfl.errors import printable
from lossyfl.experiments.compare import Planned
from lossyfl.experiments.side_by_side import Begun, Ended, Event
from lossyfl.report.text import duration
from lossyfl.tasks.metrics import ACCURACY, Metric

PLAIN_EVERY = 60.0
"""Seconds from one plain line of a run to the next."""
RECENT = 100
"""Rounds, of all runs, that the time left is estimated from."""


class Board:
    """Listens to runs; lines that change on a terminal, plain lines elsewhere."""

    def __init__(self, runs: Sequence[Planned], console: Console | None = None) -> None:
        self._runs = runs
        self._tallies = [RunTally() for _ in runs]
        self._times: deque[float] = deque(maxlen=RECENT)
        self._said = [0.0] * len(runs)
        self._metrics: dict[int, Metric] = {}
        self._ended = 0
        self._console = console or terminal(err=True)
        self._lines: dict[int, TaskID] = {}
        self._live = Progress(
            TextColumn(
                "{task.description}",
                table_column=Column(no_wrap=True, overflow="ellipsis"),
                markup=False,
            ),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._live.start()
        self._all = self._live.add_task("", total=None)

    def __call__(self, index: int, event: Event) -> None:
        """Show what happened in a run."""
        if isinstance(event, Begun):
            for record in event.done:
                self._tallies[index].add(record)
            self._metrics[index] = event.metric
            self._times.append(time.monotonic())
            self._say(f"{self._name(index)}: {event.entries:,} parameters")
            self._lines[index] = self._live.add_task("", total=None)
        elif isinstance(event, Ended):
            self._ended += 1
            self._say(f"{self._name(index)}: {event.why or self._standing(index)}")
            if index in self._lines:
                self._live.remove_task(self._lines.pop(index))
        else:
            self._tallies[index].add(event)
            self._times.append(time.monotonic())
            self._show(index)

    def close(self) -> None:
        """All are over."""
        self._live.remove_task(self._all)
        self._live.stop()

    def _show(self, index: int) -> None:
        line = f"{self._name(index)}: {self._standing(index)}"
        together = f"{self._ended} of {len(self._runs)} runs done, {self.left()} left"
        # What is behind the edge of a terminal is the name of the run, not how it stands.
        shown = f"{self._standing(index)}: {self._name(index)}"
        self._live.update(self._lines[index], description=printable(shown))
        self._live.update(self._all, description=together)
        now = time.monotonic()
        if not self._console.is_terminal and now - self._said[index] > PLAIN_EVERY:
            self._said[index] = now
            self._say(f"{line}; {together}")

    def left(self) -> str:
        """The time for all rounds that are left, at the pace of recent ones."""
        if len(self._times) < 2:
            return "?"
        pace = (self._times[-1] - self._times[0]) / (len(self._times) - 1)
        return duration(pace * (sum(run.rounds for run in self._runs) - self._done()))

    def _name(self, index: int) -> str:
        return self._runs[index].name

    def _standing(self, index: int) -> str:
        tally = self._tallies[index]
        first = self._metrics.get(index, ACCURACY)
        value = tally.metrics.get(first.name)
        metric = "" if value is None else f", {first.name} {first.text(value)}"
        saved = f", down {saving(tally.raw_down, tally.down)}, up {saving(tally.raw_up, tally.up)}"
        return f"round {tally.rounds}/{self._runs[index].rounds}{metric}{saved}"

    def _done(self) -> int:
        return sum(tally.rounds for tally in self._tallies)

    def _say(self, text: str) -> None:
        self._console.print(printable(text), highlight=False, markup=False, soft_wrap=True)
