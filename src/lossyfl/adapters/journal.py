"""A strategy's results directory: the same files as a run of the simulator, for `lossyfl report`.

Flower looks at the test set after a round's training, and the next round's broadcast goes out with that
look; so a round is written down when the next one begins.
"""

import math
import time
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from logging import INFO
from pathlib import Path

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord

from lossyfl.adapters.envelope import Up
from lossyfl.adapters.layout import Exact
from lossyfl.adapters.logs import log, shown
from lossyfl.adapters.written import COMMAND, Written
from lossyfl.errors import InputError
from lossyfl.protocol.ledger import Refusals
from lossyfl.protocol.server import Server
from lossyfl.results.directory import Results, State
from lossyfl.results.experiment import Experiment
from lossyfl.results.records import Round, Seconds, Traffic, downlink, read_rounds, traffic


@dataclass(slots=True, kw_only=True)
class Notes:
    """Of the round that goes on.

    down, up:         bytes of messages, as Flower counts them
    exact:            bytes of what travels to nodes as it is, beside frames
    exact_of_reply:   the same in the reply of one, which is as long in all
    messages:         to nodes, for training and evaluation
    broadcast:        seconds to make it
    training, coding: seconds that nodes say they took, all of them together
    trained:          seconds until all had answered
    aggregate:        of these, seconds to decode and aggregate
    """

    began: float = field(default_factory=time.perf_counter)
    messages: int = 0
    down: int = 0
    up: int = 0
    exact: int = 0
    exact_of_reply: int = 0
    refused: int = 0
    train_loss: float | None = None
    accuracy: float | None = None
    test_loss: float | None = None
    broadcast: float = 0.0
    training: float = 0.0
    coding: float = 0.0
    trained: float = 0.0
    aggregate: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Bytes to and from all nodes: frames and what travels exactly, the model as it is, Flower's messages."""

    down: int = 0
    up: int = 0
    plain_down: int = 0
    plain_up: int = 0
    flower_down: int = 0
    flower_up: int = 0

    @classmethod
    def of(cls, record: Round) -> "Sent":
        """Those of a round."""
        return cls(
            down=record.down.unicast,
            up=record.up.unicast,
            plain_down=record.down.plain,
            plain_up=record.up.plain,
            flower_down=record.down.carrier,
            flower_up=record.up.carrier,
        )

    def __add__(self, other: "Sent") -> "Sent":
        return Sent(**{key: value + getattr(other, key) for key, value in asdict(self).items()})

    def __str__(self) -> str:
        down = f"{_bytes(self.down)} down for {_bytes(self.plain_down)} as they are"
        up = f"{_bytes(self.up)} up for {_bytes(self.plain_up)}"
        carried = f"{_bytes(self.flower_down)} down, {_bytes(self.flower_up)} up"
        return f"{down}, {up} (Flower's messages: {carried})"


class Journal:
    """What is noted while rounds go on; without a folder it is kept in memory only."""

    def __init__(self, folder: Path | None) -> None:
        self.rounds: list[Round] = []
        self._results = None if folder is None else Results(folder)
        self._written = None if self._results is None else Written(self._results)
        self._distances: dict[int, float] = {}
        self._seconds = 0.0
        self._lock = ExitStack()
        self.notes: Notes | None = None
        self._total = Sent()
        self.model_bytes = 0
        """Of the model in its own dtypes: what plain Flower sends to every node, and every node back."""

    def begin(self, scheme: str, rounds: int, seed: int, *, done: int) -> None:
        """Make the folder ready, or open it again after so many rounds."""
        if self._results is None:
            return
        folder = self._results.folder
        if folder.exists() and any(folder.iterdir()) and not self._results.config.is_file():
            allowed = "a new folder, or an empty one"
            raise InputError("results", of="LossyStrategy", allowed=allowed, got=str(folder))
        try:
            self._lock.enter_context(self._results.locked())
        except InputError as error:  # in the words of `lossyfl run`
            allowed = "a folder that can be made and written, and in which nothing else runs"
            raise InputError(
                "results", of="LossyStrategy", allowed=allowed, got=str(folder)
            ) from error
        log(INFO, "lossyfl: results are written to %s", folder.resolve())
        self.rounds = read_rounds(self._results.rounds)
        if self.rounds and not done:
            self._lock.close()
            allowed = "a new folder, or an empty one"
            raise InputError("results", of="LossyStrategy", allowed=allowed, got=str(folder))
        if self.rounds:
            return
        self._results.create(
            Experiment(
                task="flower", scheme=scheme, rounds=rounds, seed=seed, listen="participants"
            )
        )
        self._results.checkpoint.rmdir()  # that is the strategy's affair, with save_to
        self._results.write_about("running", [], COMMAND)

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

    def carried(self, message: Message, *, down: bool) -> None:
        """Note the size of a message, as Flower counts it."""
        if self.notes is None:
            return
        size = sum(_size(record) for record in message.content.values())
        self.notes.messages += 1 if down else 0
        self.notes.down += size if down else 0
        self.notes.up += 0 if down else size

    def beside(self, exact: Exact) -> None:
        """Note what travels to a node as it is, beside frames."""
        if self.notes is not None:
            self.notes.exact += _bytes_of(exact)

    def refused(self) -> None:
        """Note a reply that was refused."""
        if self.notes is not None:
            self.notes.refused += 1

    def trained(self, metrics: MetricRecord | None, seconds: float) -> None:
        """Note what came of a round's training, and how long it took to aggregate."""
        if self.notes is not None:
            self.notes.train_loss = _metric(metrics, "loss")
            self.notes.trained = time.perf_counter() - self.notes.began
            self.notes.aggregate = seconds
            self.notes.broadcast, self._seconds = self._seconds, 0.0

    def worked(self, up: Up) -> None:
        """Note how long a node took, and what it sent as it is."""
        if self.notes is not None:
            self.notes.exact_of_reply = _bytes_of(up.exact)
            self.notes.training += up.training
            self.notes.coding += up.coding

    def looked(self, metrics: MetricRecord | None, *, server: bool = False) -> None:
        """Note what somebody saw of the model that the round made.

        server: it was `evaluate_fn`, whose word counts more than that of the nodes
        """
        if self.notes is None or not metrics:
            return
        for name, word in (("accuracy", "acc"), ("test_loss", "loss")):
            seen = _metric(metrics, word)
            if seen is not None and (server or getattr(self.notes, name) is None):
                setattr(self.notes, name, seen)

    def flush(self, server: Server | None, *, is_last: bool = False) -> None:
        """Write down the round that is over, if there is one; the last, with what was sent to evaluate it."""
        if self.notes is None or server is None:
            return
        # The broadcast of the next round may be out already.
        last = server.round - (1 if server.is_open else 0)
        ledger = server.ledger.drain(through=None if is_last else last)
        down, up = traffic(ledger)
        replies = ledger.total("up").frames
        plain = self.notes.messages * self.model_bytes
        handed = {"carrier": self.notes.down, "plain": plain, "exact": self.notes.exact}
        back = {"carrier": self.notes.up, "plain": replies * self.model_bytes}
        exact = replies * self.notes.exact_of_reply
        total = time.perf_counter() - self.notes.began
        record = Round(
            round=last,
            accuracy=self.notes.accuracy,
            test_loss=self.notes.test_loss,
            train_loss=self.notes.train_loss,
            eps=ledger.eps.get(last),
            distance=self._distances.pop(last, 0.0),
            replies=replies,
            late=self.notes.refused,
            late_bytes=0,
            away=0,
            down=replace(down, **handed, unicast=down.unicast + self.notes.exact),
            up=_with_exact(replace(up, **back), exact),
            copies=_with_exact(replace(downlink(ledger, "unicast"), **handed), self.notes.exact),
            seconds=Seconds(
                broadcast=self.notes.broadcast,
                devices=self.notes.trained - self.notes.aggregate,
                aggregate=self.notes.aggregate,
                evaluate=total - self.notes.trained,
                save=0.0,
                total=total,
                training=self.notes.training,
                coding=self.notes.coding,
            ),
        )
        sent = Sent.of(record)
        self._total += sent
        log(INFO, "lossyfl: round %d: %s", last + 1, sent)
        self.notes = None
        self.rounds.append(record)
        if self._written is not None:
            self._written.add(record, ledger)
            if not is_last:
                self._written.write("running", self.rounds, server.ledger.refusals)

    def end(self, server: Server | None) -> None:
        """Write down the last round, and that it was the last."""
        self.flush(server, is_last=True)
        if self._total != Sent():
            log(INFO, "lossyfl: in all: %s", self._total)
        if server is not None:
            log_refusals(server.ledger.refusals)
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


def log_refusals(refusals: Refusals) -> None:
    """Log a table of what was refused, or taken with a note."""
    if not refusals.counts:
        return
    log(INFO, "lossyfl: replies that were refused, or taken with a note:")
    for reason, count in refusals.counts.most_common():
        last = next((own for own in reversed(refusals.recent) if own.reason == reason), None)
        example = "" if last is None else f"round {last.round}, device {last.device}: {last.detail}"
        log(INFO, "\t%6d  %-12s %s", count, reason, example)


def _bytes(count: int) -> str:
    """A number of bytes, to three digits."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"


def _with_exact(side: Traffic, exact: int) -> Traffic:
    """Traffic with what travels beside its frames, which costs as much by any count."""
    return replace(
        side,
        nbytes=side.nbytes + exact,
        unicast=side.unicast + exact,
        raw=side.raw + exact,
        paper=side.paper + exact * 33 / 32,
        entropy=side.entropy + exact,
        entries=side.entries + exact // 4,
        exact=exact,
    )


def _bytes_of(exact: Exact) -> int:
    return sum(len(array.data) for array in exact.values())


def _size(record: ArrayRecord | MetricRecord | ConfigRecord) -> int:
    """The bytes of a record, as Flower counts them; it cannot count a record with an empty value."""
    try:
        return record.count_bytes()
    except (ValueError, IndexError, TypeError):
        return sum(len(str(value)) for value in record.values())


def _metric(metrics: MetricRecord | None, word: str) -> float | None:
    """The first metric whose name has this word."""
    for name, value in () if metrics is None else metrics.items():
        if word in name.lower() and isinstance(value, int | float) and math.isfinite(value):
            return float(value)
    return None
