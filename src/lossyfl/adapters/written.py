"""A training's results directory on a disk that may be full: no training stops for it.

What cannot be written is kept, and written with the next round for which there is room.
"""

import json
from dataclasses import asdict
from logging import INFO, WARNING
from pathlib import Path

from lossyfl.adapters.framework import Framework
from lossyfl.errors import InputError
from lossyfl.files.atomic import write_atomically
from lossyfl.protocol.ledger import Ledger, Refusals
from lossyfl.results.directory import Results, Sizes, State
from lossyfl.results.records import Round

REFUSALS = "refusals.json"
"""In a results directory: what was refused, if anything was."""


class Written:
    """What has been written of a training, and what has not been yet."""

    def __init__(self, results: Results, framework: Framework) -> None:
        self.framework = framework
        self._results = results
        self._waiting: list[tuple[Round, Ledger]] = []
        self._was_full = False

    def add(self, record: Round, ledger: Ledger) -> None:
        """A round that is over."""
        self._waiting.append((record, ledger))

    def write(
        self, state: State, rounds: list[Round], refusals: Refusals | None, why: str = ""
    ) -> None:
        """Write down all that waits, and how the training stands; say so if that cannot be done."""
        try:
            while self._waiting:
                self._append(*self._waiting[0])
                del self._waiting[0]
            if refusals is not None and refusals.counts:
                _write_refusals(self._results.folder / REFUSALS, refusals)
            self._results.write_about(state, rounds, self.framework.command, why)
        except (OSError, InputError) as error:
            self._complain(error, is_over=state != "running")
        else:
            if self._was_full:
                self.framework.log(
                    INFO, "lossyfl: results are written again, and all rounds are there"
                )
            self._was_full = False

    def _append(self, record: Round, ledger: Ledger) -> None:
        """Add a round, all of it or nothing."""
        files = (self._results.rounds, self._results.ledger)
        rounds, lines = (path.stat().st_size for path in files)
        try:
            self._results.append(record, ledger)
        except OSError:
            self._results.truncate(Sizes(rounds=rounds, ledger=lines))
            raise

    def _complain(self, error: Exception, *, is_over: bool) -> None:
        if is_over and self._waiting:
            first = self._waiting[0][0].round + 1
            self.framework.log(WARNING, "lossyfl: results end before round %d: %s", first, error)
        elif not self._was_full:
            to_do = "make room: training goes on, and they are written as soon as that can be done"
            self.framework.log(WARNING, "lossyfl: results cannot be written: %s; %s", error, to_do)
        self._was_full = True


def _write_refusals(path: Path, refusals: Refusals) -> None:
    """How often replies were refused, or taken with a note, by reason; and the latest of them."""
    facts = {"counts": refusals.counts, "recent": [asdict(each) for each in refusals.recent]}
    text = json.dumps(facts, indent=1) + "\n"
    write_atomically(path, [text.encode()], durable=False)
