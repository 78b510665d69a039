"""How runs go, in a notebook, a terminal or a file: one line that changes, or whole lines now and then.

Plain text on standard output: a notebook lets a line that begins with a carriage return take the place of the
one before, as a terminal does.
"""

import sys
import time
from typing import TYPE_CHECKING, TextIO

from lossyfl.api.pace import Pace
from lossyfl.api.tally import RunTally, time_left
from lossyfl.errors import printable

if TYPE_CHECKING:
    from lossyfl.results.records import Round
    from lossyfl.simulation.setup import Setup

PLAIN_EVERY = 5.0
"""Seconds from one whole line to the next."""
CHANGED_EVERY = 0.2
"""Seconds from one change of a line to the next."""
WIDTH = 110


class ProgressLine:
    """Watches runs in turn, and says how they stand."""

    def __init__(self, runs: int = 1, stream: TextIO | None = None) -> None:
        self._stream = sys.stdout if stream is None else stream
        self._changes = in_notebook() or self._stream.isatty()
        self._runs, self._run = runs, 0
        self._tally, self._pace = RunTally(), Pace()
        self._last, self._shown = 0.0, 0

    def preparing(self, what: str) -> None:
        """Say what is done before the first round."""
        if self._changes:
            self._change(what)

    def started(self, setup: "Setup", done: "list[Round]") -> None:
        """Show what is run."""
        self._run += 1
        self._tally = RunTally()
        self._tally.start(setup, done)
        self._pace.begin()
        which = f"run {self._run}/{self._runs}, " if self._runs > 1 else ""
        self._stay(f"{which}seed {setup.experiment.seed}: {self._tally.title()}")

    def skipped(self) -> None:
        """A run that was complete before."""
        self._run += 1

    def round_done(self, record: "Round") -> None:
        """Show how it stands."""
        self._tally.add(record)
        self._pace.add(evaluated=bool(record.metrics))
        ends = self._tally.rounds == self._tally.total
        now = time.monotonic()
        if not ends and now - self._last < (CHANGED_EVERY if self._changes else PLAIN_EVERY):
            return
        self._last = now
        left = time_left(self._pace.left(self._tally.left))
        line = self._tally.line(WIDTH if self._changes else None, left)
        (self._change if self._changes and not ends else self._stay)(line)

    def stopping(self) -> None:
        """Say that it will stop."""
        self._stay("stopping after this round (once more: at once)")

    def ended(self) -> None:
        """One run is over."""

    def close(self) -> None:
        """All are over, and the last line stays."""
        if self._shown:
            self._write("\n")
            self._shown = 0

    def _change(self, text: str) -> None:
        line = printable(text)
        self._write(f"\r{line:<{self._shown}}")
        self._shown = len(line)

    def _stay(self, text: str) -> None:
        start = "\r" if self._shown else ""
        self._write(f"{start}{printable(text):<{self._shown}}\n")
        self._shown = 0

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


def in_notebook() -> bool:
    """Whether this process serves a notebook; nothing is imported to find out."""
    asked = getattr(sys.modules.get("IPython"), "get_ipython", None)
    shell = asked() if callable(asked) else None
    return hasattr(shell, "kernel")
