"""A training's results directory: the same files as a run of the simulator, for `lossyfl report`.

A framework evaluates the model after a round's training, and the next round's broadcast goes out with that
evaluation; so a round is written down when the next one begins.
"""

import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from logging import INFO
from pathlib import Path

import numpy as np

from lossyfl.adapters.envelope import Up
from lossyfl.adapters.exact import Exact, nbytes
from lossyfl.adapters.framework import OWN, Framework
from lossyfl.adapters.logs import shown
from lossyfl.adapters.notes import (
    BytesSent,
    Notes,
    facts_of,
    metric,
    metrics_of,
    with_exact,
)
from lossyfl.adapters.written import Written
from lossyfl.errors import InputError
from lossyfl.protocol.ledger import Ledger, Refusals
from lossyfl.protocol.server import Server
from lossyfl.results.directory import Results, State
from lossyfl.results.experiment import Experiment
from lossyfl.results.records import Round, Seconds, downlink, read_rounds, traffic


class Journal:
    """What is noted while rounds go on; without a folder it is kept in memory only."""

    def __init__(self, folder: Path | None, framework: Framework = OWN) -> None:
        self._framework = framework
        self.rounds: list[Round] = []
        self._results = None if folder is None else Results(folder)
        self._written = None if self._results is None else Written(self._results, framework)
        self._distances: dict[int, float] = {}
        self._seconds = 0.0
        self._lock = ExitStack()
        self.notes: Notes | None = None
        self._total = BytesSent()
        self.model_bytes = 0
        """Of the model in its own dtypes: what goes to every device without lossyfl, and back."""

    def begin(self, scheme: str, rounds: int, seed: int, *, done: int) -> None:
        """Make the folder ready, or open it again after so many rounds."""
        of = self._framework.settings
        if self._results is None:
            return
        folder = self._results.folder
        if folder.exists() and any(folder.iterdir()) and not self._results.config.is_file():
            allowed = "a new folder, or an empty one"
            raise InputError("results", of=of, allowed=allowed, got=str(folder))
        try:
            self._lock.enter_context(self._results.locked())
        except InputError as error:  # in the words of `lossyfl run`
            allowed = "a folder that can be made and written, and in which nothing else runs"
            raise InputError("results", of=of, allowed=allowed, got=str(folder)) from error
        self._framework.log(INFO, "lossyfl: results are written to %s", folder.resolve())
        self.rounds = read_rounds(self._results.rounds)
        if self.rounds and not done:
            self._lock.close()
            allowed = "a new folder, or an empty one"
            raise InputError("results", of=of, allowed=allowed, got=str(folder))
        if self.rounds:
            return
        self._results.create(
            Experiment(
                task=self._framework.name,
                scheme=scheme,
                rounds=rounds,
                seed=seed,
                listen="participants",
            )
        )
        self._results.checkpoint.rmdir()  # that is the adapter's affair
        self._results.write_about("running", [], self._framework.command)

    def go_on(self, server: Server, done: int) -> None:
        """Go on after a checkpoint of so many rounds: forget later ones, and write a missing last one."""
        if self._results is not None and len(self.rounds) > done:
            self._results.keep_rounds(done)
            self.rounds = self.rounds[:done]
        if self._results is not None and len(self.rounds) == done - 1:
            self.notes = Notes()
            self.flush(server)
        server.ledger.drain(through=done - 1)

    def open(self) -> None:
        """A round begins."""
        self.notes = Notes()

    def broadcast(self, server: Server, seconds: float) -> None:
        """Note what the broadcast of a round could not say, and how long it took to make."""
        self._seconds = seconds
        self._distances[server.round] = float(np.linalg.norm(server.theta - server.estimate))

    def carried_down(self, size: int) -> None:
        """Note the bytes of a message to a device, as the framework counts them."""
        if self.notes is not None:
            self.notes.messages += 1
            self.notes.down += size

    def carried_up(self, size: int) -> None:
        """Note the bytes of a message from a device."""
        if self.notes is not None:
            self.notes.up += size

    def beside(self, exact: Exact) -> None:
        """Note what travels to a device as it is, beside frames."""
        if self.notes is not None:
            self.notes.exact += nbytes(exact)

    def refused(self) -> None:
        """Note a reply that was refused."""
        if self.notes is not None:
            self.notes.refused += 1

    def trained(self, metrics: Mapping[str, object] | None, seconds: float) -> None:
        """Note what came of a round's training, and how long it took to aggregate."""
        if self.notes is not None:
            self.notes.train_loss = metric(metrics, "loss")
            self.notes.trained = time.perf_counter() - self.notes.began
            self.notes.aggregate = seconds
            self.notes.broadcast, self._seconds = self._seconds, 0.0

    def worked(self, up: Up) -> None:
        """Note how long a device took, and what it sent as it is."""
        if self.notes is not None:
            self.notes.exact_of_reply = nbytes(up.exact)
            self.notes.training += up.training
            self.notes.coding += up.coding

    def evaluated(self, metrics: Mapping[str, object] | None, *, server: bool = False) -> None:
        """Note an evaluation of the model that the round made.

        server: it was the server itself, whose word counts more than that of devices
        """
        if self.notes is None or not metrics:
            return
        notes, loss = self.notes, metric(metrics, "loss")
        if loss is not None and (server or notes.test_loss is None):
            notes.test_loss = loss
        seen = metrics_of(metrics)
        notes.metrics = notes.metrics | seen if server else seen | notes.metrics

    def flush(self, server: Server | None, *, is_last: bool = False) -> None:
        """Write down the round that is over, if there is one; the last, with what was sent to evaluate it."""
        if self.notes is None or server is None:
            return
        # The broadcast of the next round may be out already.
        last = server.round - (1 if server.is_open else 0)
        ledger = server.ledger.drain(through=None if is_last else last)
        record = self._record(self.notes, last, ledger)
        sent = BytesSent.of(record)
        self._total += sent
        self._framework.log(
            INFO, "lossyfl: round %d: %s", last + 1, sent.text(self._framework.messages)
        )
        self.notes = None
        self.rounds.append(record)
        if self._results is not None and self._written is not None:
            self._results.task = facts_of(self._framework.name, self.rounds)
            self._written.add(record, ledger)
            if not is_last:
                self._written.write("running", self.rounds, server.ledger.refusals)

    def _record(self, notes: Notes, last: int, ledger: Ledger) -> Round:
        """What was noted of a round, with its ledger."""
        down, up = traffic(ledger)
        replies = ledger.total("up").frames
        plain = notes.messages * self.model_bytes
        handed = {"carrier": notes.down, "plain": plain, "exact": notes.exact}
        back = {"carrier": notes.up, "plain": replies * self.model_bytes}
        exact = replies * notes.exact_of_reply
        total = time.perf_counter() - notes.began
        return Round(
            round=last,
            metrics=_measured(notes),
            test_loss=notes.test_loss,
            train_loss=notes.train_loss,
            eps=ledger.eps.get(last),
            distance=self._distances.pop(last, 0.0),
            replies=replies,
            late=notes.refused,
            late_bytes=0,
            away=0,
            down=replace(down, **handed, unicast=down.unicast + notes.exact),
            up=with_exact(replace(up, **back), exact),
            copies=with_exact(replace(downlink(ledger, "unicast"), **handed), notes.exact),
            seconds=Seconds(
                broadcast=notes.broadcast,
                devices=notes.trained - notes.aggregate,
                aggregate=notes.aggregate,
                evaluate=total - notes.trained,
                save=0.0,
                total=total,
                training=notes.training,
                coding=notes.coding,
            ),
        )

    def end(self, server: Server | None) -> None:
        """Write down the last round, and that it was the last."""
        self.flush(server, is_last=True)
        if self._total != BytesSent():
            self._framework.log(
                INFO, "lossyfl: in all: %s", self._total.text(self._framework.messages)
            )
        if server is not None:
            log_refusals(server.ledger.refusals, self._framework)
        self._close("done", server)

    def stop(self, server: Server | None, error: BaseException) -> None:
        """Write down why there is no end; a round that is not over is left out."""
        is_asked = isinstance(error, KeyboardInterrupt)
        why = "" if is_asked else f"{type(error).__name__}: {shown(error)}"
        self._close("interrupted" if is_asked else "stopped", server, why)

    def _close(self, state: State, server: Server | None, why: str = "") -> None:
        if self._written is not None:
            refusals = None if server is None else server.ledger.refusals
            self._written.write(state, self.rounds, refusals, why)
        self._lock.close()


def _measured(notes: Notes) -> dict[str, float]:
    """The metrics of a round; the loss where nothing else was measured."""
    if notes.metrics or notes.test_loss is None:
        return notes.metrics
    return {"loss": notes.test_loss}


def log_refusals(refusals: Refusals, framework: Framework) -> None:
    """Log a table of what was refused, or taken with a note."""
    if not refusals.counts:
        return
    framework.log(INFO, "lossyfl: replies that were refused, or taken with a note:")
    for reason, count in refusals.counts.most_common():
        last = next((own for own in reversed(refusals.recent) if own.reason == reason), None)
        example = "" if last is None else f"round {last.round}, device {last.device}: {last.detail}"
        framework.log(INFO, "\t%6d  %-12s %s", count, reason, example)
