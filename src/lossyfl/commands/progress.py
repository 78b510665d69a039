"""How a run goes: one line that changes on a terminal, plain lines elsewhere."""

import time
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from lossyfl.report.text import duration, size
from lossyfl.simulation.records import Round
from lossyfl.simulation.run import Outcome, Watcher
from lossyfl.simulation.setup import Setup

PLAIN_EVERY = 5.0
"""Seconds from one plain line to the next."""


def progress() -> Watcher:
    """The display for where standard error goes."""
    console = Console(stderr=True)
    return Live(console) if console.is_terminal else Plain(console)


class Tally:
    """Sums over the rounds so far, as text."""

    def __init__(self) -> None:
        self.setup: Setup | None = None
        self.rounds = self.down = self.up = self.raw_down = self.raw_up = 0
        self.accuracy: float | None = None
        self.loss: float | None = None

    def start(self, setup: Setup, done: Sequence[Round]) -> None:
        """Begin with what was done before."""
        self.setup = setup
        for record in done:
            self.add(record)

    @property
    def total(self) -> int:
        """The rounds of the run."""
        return self.setup.rounds if self.setup else 0

    def add(self, record: Round) -> None:
        """Count one more round."""
        self.rounds = record.round + 1
        self.down += record.down.nbytes
        self.up += record.up.nbytes
        self.raw_down += record.down.raw
        self.raw_up += record.up.raw
        self.loss = record.train_loss
        self.accuracy = self.accuracy if record.accuracy is None else record.accuracy

    def title(self) -> str:
        """What is run."""
        assert self.setup is not None
        chosen, entries = self.setup.experiment, len(self.setup.theta)
        title = (
            f"{chosen.task}, {chosen.scheme}: {entries:,} parameters, {self.setup.devices:,} "
            f"devices, partition {chosen.partition}"
        )
        if self.setup.scheme.name != "lean" or self.setup.scheme.first is not None:
            return title
        return f"{title}; the first model, {size(4 * entries)}, is in no budget (first_budget)"

    def text(self) -> str:
        """How it stands."""
        accuracy = "-" if self.accuracy is None else f"{100 * self.accuracy:.2f} %"
        loss = "-" if self.loss is None else f"{self.loss:.4f}"
        down, up = saving(self.raw_down, self.down), saving(self.raw_up, self.up)
        return (
            f"accuracy {accuracy}  loss {loss}  "
            f"down {size(self.down)} ({down})  up {size(self.up)} ({up})"
        )


class Live:
    """A bar and one line that changes."""

    def __init__(self, console: Console) -> None:
        self._tally = Tally()
        self._bar = Progress(
            TextColumn("round {task.completed}/{task.total}"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[text]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
        )
        self._task = self._bar.add_task("", total=None, text="")

    def started(self, setup: Setup, done: list[Round]) -> None:
        """Show what is run."""
        self._tally.start(setup, done)
        self._bar.console.print(self._tally.title(), highlight=False)
        self._bar.start()
        self._show()

    def round_done(self, record: Round) -> None:
        """Show how it stands."""
        self._tally.add(record)
        self._show()

    def stopping(self) -> None:
        """Say that it will stop."""
        self._bar.console.print("stopping after this round (once more: at once)", highlight=False)

    def ended(self) -> None:
        """Leave the last line as it is."""
        self._bar.stop()

    def _show(self) -> None:
        tally = self._tally
        self._bar.update(
            self._task, completed=tally.rounds, total=tally.total, text=tally.text(), refresh=True
        )


class Plain:
    """A line every few seconds."""

    def __init__(self, console: Console) -> None:
        self._tally, self._console = Tally(), console
        self._last = self._begin = 0.0
        self._before = 0

    def started(self, setup: Setup, done: list[Round]) -> None:
        """Show what is run."""
        self._tally.start(setup, done)
        self._begin, self._before = time.monotonic(), len(done)
        self._say(self._tally.title())

    def round_done(self, record: Round) -> None:
        """Show how it stands."""
        tally, now = self._tally, time.monotonic()
        tally.add(record)
        if tally.rounds < tally.total and now - self._last < PLAIN_EVERY:
            return
        self._last = now
        pace = (now - self._begin) / (tally.rounds - self._before)
        left = duration(pace * (tally.total - tally.rounds))
        self._say(f"round {tally.rounds}/{tally.total}  {tally.text()}  {left} left")

    def stopping(self) -> None:
        """Say that it will stop."""
        self._say("stopping after this round (once more: at once)")

    def ended(self) -> None:
        """Nothing is open."""

    def _say(self, text: str) -> None:
        self._console.print(text, highlight=False, soft_wrap=True)


class Several:
    """Many watchers as one."""

    def __init__(self, watchers: Sequence[Watcher]) -> None:
        self._watchers = watchers

    def started(self, setup: Setup, done: list[Round]) -> None:
        """Show what is run."""
        for watcher in self._watchers:
            watcher.started(setup, done)

    def round_done(self, record: Round) -> None:
        """Show how it stands."""
        for watcher in self._watchers:
            watcher.round_done(record)

    def stopping(self) -> None:
        """Say that it will stop."""
        for watcher in self._watchers:
            watcher.stopping()

    def ended(self) -> None:
        """Leave the last line as it is."""
        for watcher in self._watchers:
            watcher.ended()


def describe(outcome: Outcome) -> str:
    """What a run came to, in two lines."""
    s = outcome.summary
    accuracy = "not looked at" if s.accuracy is None else f"{100 * s.accuracy:.2f} %"
    return (
        f"{s.rounds} rounds in {duration(s.seconds)}: accuracy {accuracy}, "
        f"down {size(s.down)} ({s.saving_down:.1f}x fewer than 32-bit floats), "
        f"up {size(s.up)} ({s.saving_up:.1f}x)\n"
        f"results in {outcome.folder}"
    )


def saving(raw: int, real: int) -> str:
    """How many times fewer bytes."""
    return f"{raw / real:.1f}x" if real else "-"


class Campaign:
    """Many runs under one bar: which run, how it stands, and the time that is left for all."""

    def __init__(self, rounds: int, runs: int, console: Console | None = None) -> None:
        self._console = console or Console(stderr=True)
        self._runs, self._run, self._total = runs, 0, rounds
        self._done = self._played = 0
        self._tally = Tally()
        self._begin, self._last = time.monotonic(), 0.0
        self._bar = Progress(
            TextColumn("{task.fields[text]}"),
            BarColumn(bar_width=20),
            TextColumn("{task.fields[left]}"),
            console=self._console,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task("", total=rounds, text="", left="")
        self._bar.start()

    def skip(self, rounds: int) -> None:
        """A run that was complete before."""
        self._run += 1
        self._done += rounds

    def started(self, setup: Setup, done: list[Round]) -> None:
        """The next run."""
        self._run += 1
        self._done += len(done)
        self._tally = Tally()
        self._tally.start(setup, done)
        which = f"run {self._run}/{self._runs}, " if self._runs > 1 else ""
        self._say(f"{which}seed {setup.experiment.seed}: {self._tally.title()}")

    def round_done(self, record: Round) -> None:
        """One more round of one run."""
        self._tally.add(record)
        self._done += 1
        self._played += 1
        now = time.monotonic()
        left = (now - self._begin) / self._played * max(self._total - self._done, 0)
        run, some = ("", "") if self._runs == 1 else (f"run {self._run}/{self._runs} ", "all: ")
        line = f"{run}round {self._tally.rounds}/{self._tally.total}  {self._tally.text()}"
        shown = f"{some}{duration(left)} left"
        self._bar.update(self._task, completed=self._done, text=line, left=shown)
        ends = self._tally.rounds == self._tally.total
        if not self._console.is_terminal and (ends or now - self._last > 6 * PLAIN_EVERY):
            self._last = now
            self._say(f"{line}  {shown}")

    def stopping(self) -> None:
        """Say that it will stop."""
        self._say("stopping after this round (once more: at once)")

    def ended(self) -> None:
        """One run is over; the bar stays."""

    def close(self) -> None:
        """All are over."""
        self._bar.stop()

    def _say(self, text: str) -> None:
        self._bar.console.print(text, highlight=False, soft_wrap=True)
