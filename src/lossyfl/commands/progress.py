"""How a run goes: one line that changes on a terminal, plain lines elsewhere."""

import time
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.live import Live as Changing
from rich.spinner import Spinner
from rich.text import Text

from lossyfl.api.pace import Pace, Remaining
from lossyfl.api.tally import RunTally, time_left
from lossyfl.commands.output import console as terminal
from lossyfl.errors import printable
from lossyfl.report.text import duration, size, size_down

if TYPE_CHECKING:  # torch would come with them, and this begins before
    from collections.abc import Sequence

    from lossyfl.results.records import Round
    from lossyfl.simulation.run_loop import RunResult
    from lossyfl.simulation.setup import Setup
    from lossyfl.simulation.watcher import Watcher

PLAIN_EVERY = 5.0
"""Seconds from one plain line to the next."""
FIRST = "first round"


def progress() -> "Display":
    """The display for where standard error goes."""
    console = terminal(err=True)
    return Live(console) if console.is_terminal else PlainLines(console)


class Display:
    """What all displays have in common: how a run stands, and how long the rest will take."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.tally, self.pace = RunTally(), Pace()

    def preparing(self, what: str) -> None:
        """Say what is done before the first round."""
        raise NotImplementedError

    def started(self, setup: "Setup", done: "list[Round]") -> None:
        """Show what is run."""
        self.tally = RunTally()
        self.tally.start(setup, done)
        self.pace.begin()
        self.say(self.title())

    def round_done(self, record: "Round") -> None:
        """Show how it stands."""
        self.tally.add(record)
        self.pace.add(evaluated=bool(record.metrics))

    def stopping(self) -> None:
        """Say that it will stop."""
        self.say("stopping after this round (once more: at once)")

    def ended(self) -> None:
        """Leave the last line as it is."""

    def say(self, text: str) -> None:
        """A line that stays."""
        # A file's lines are whole; a terminal's end between words.
        wrapped = not self.console.is_terminal
        self.console.print(printable(text), highlight=False, markup=False, soft_wrap=wrapped)

    def title(self) -> str:
        """What is run."""
        return self.tally.title()

    def line(self, width: int | None) -> str:
        """How it stands."""
        return self.tally.line(width, time_left(self.pace.left(self.tally.left)))


class Live(Display):
    """One line that changes, as long as the terminal is wide."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._doing = Spinner("dots")
        self._changing = Changing(console=console, get_renderable=self._shown)

    def preparing(self, what: str) -> None:
        """Say what is done before the first round."""
        self._doing.update(text=Text(printable(what), no_wrap=True, overflow="ellipsis"))
        self._changing.start()
        self._changing.refresh()  # also what is over in a moment

    def started(self, setup: "Setup", done: "list[Round]") -> None:
        """Show what is run."""
        self.preparing(FIRST)
        super().started(setup, done)

    def ended(self) -> None:
        """Leave the last line as it is."""
        self._changing.stop()

    def _shown(self) -> RenderableType:
        if self.tally.rounds == self.tally.before:
            return self._doing
        line = printable(self.line(self.console.width))
        return Text(line, no_wrap=True, overflow="ellipsis")


class PlainLines(Display):
    """A line every few seconds."""

    def __init__(self, console: Console) -> None:
        super().__init__(console)
        self._last = 0.0

    def preparing(self, what: str) -> None:
        """Say what is done before the first round."""
        self.say(what)

    def round_done(self, record: "Round") -> None:
        """Show how it stands."""
        super().round_done(record)
        now = time.monotonic()
        if self.tally.rounds == self.tally.total or now - self._last >= PLAIN_EVERY:
            self._last = now
            self.say(self.line(None))


class Watchers:
    """Many watchers as one."""

    def __init__(self, watchers: "Sequence[Watcher]") -> None:
        self._watchers = watchers

    def preparing(self, what: str) -> None:
        """Say what is done before the first round."""
        for watcher in self._watchers:
            watcher.preparing(what)

    def started(self, setup: "Setup", done: "list[Round]") -> None:
        """Show what is run."""
        for watcher in self._watchers:
            watcher.started(setup, done)

    def round_done(self, record: "Round") -> None:
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


def describe(outcome: "RunResult") -> str:
    """What a run came to, in two lines."""
    s = outcome.summary
    shown = [f"{each.name} {each.text(s.metrics.get(each.name))}" for each in outcome.metrics]
    metrics = ", ".join(shown) if s.metrics else "not evaluated"
    return (
        f"{s.rounds} rounds in {duration(s.seconds)}: {metrics}, "
        f"down {size_down(s.down, s.catch_up)} ({s.saving_down:.1f}x fewer than 32-bit floats), "
        f"up {size(s.up)} ({s.saving_up:.1f}x)\n"
        f"results in {outcome.folder}"
    )


class Campaign(Live):
    """Many runs in turn under one line: which run, how it stands, and the time that is left for all."""

    def __init__(self, rounds: int, runs: int, console: Console | None = None) -> None:
        super().__init__(console or terminal(err=True))
        self._runs, self._run, self._total = runs, 0, rounds
        self._done, self._last = 0, 0.0

    def skip(self, rounds: int) -> None:
        """A run that was complete before."""
        self._run += 1
        self._done += rounds

    def preparing(self, what: str) -> None:
        """Say what is done before the first round."""
        if self.console.is_terminal:
            super().preparing(what)

    def started(self, setup: "Setup", done: "list[Round]") -> None:
        """The next run."""
        self._run += 1
        self._done += len(done)
        super().started(setup, done)

    def title(self) -> str:
        """Which run it is."""
        assert self.tally.setup is not None
        which = f"run {self._run}/{self._runs}, " if self._runs > 1 else ""
        return f"{which}seed {self.tally.setup.experiment.seed}: {self.tally.title()}"

    def round_done(self, record: "Round") -> None:
        """One more round of one run."""
        super().round_done(record)
        self._done += 1
        now = time.monotonic()
        ends = self.tally.rounds == self.tally.total
        if not self.console.is_terminal and (ends or now - self._last > 6 * PLAIN_EVERY):
            self._last = now
            self.say(self.line(None))

    def ended(self) -> None:
        """One run is over; the line stays."""

    def close(self) -> None:
        """All are over."""
        super().ended()

    def line(self, width: int | None) -> str:
        """How the run stands, and the time that is left for all."""
        run, of_all = ("", "") if self._runs == 1 else (f"run {self._run}/{self._runs} ", "all ")
        left = time_left(self.pace.left(self._remaining()))
        return self.tally.line(width, left and f"{of_all}{left}", run)

    def _remaining(self) -> Remaining:
        """Rounds of all runs: those to come are like this one."""
        here, whole = self.tally.left, self.tally.whole
        later = max(self._total - self._done - here.plain - here.evaluated, 0)
        evaluated = round(later * whole.evaluated / max(self.tally.total, 1))
        return Remaining(plain=here.plain + later - evaluated, evaluated=here.evaluated + evaluated)
