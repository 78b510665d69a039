"""A strategy's results directory: the same files as a run of the simulator, for `lossyfl report`.

Flower looks at the test set after a round's training, and the next round's broadcast goes out with that
look; so a round is written down when the next one begins.
"""

import time
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from flwr.app import ArrayRecord, ConfigRecord, Message, MetricRecord

from lossyfl.errors import InputError
from lossyfl.flower.envelope import Up
from lossyfl.server import Server
from lossyfl.simulation.experiment import Experiment
from lossyfl.simulation.records import Round, Seconds, read_rounds, traffic
from lossyfl.simulation.results import Results

COMMAND = "flwr run"
"""What people type; Flower starts the server's process itself, with secrets on its command line."""


@dataclass(slots=True, kw_only=True)
class Notes:
    """Of the round that goes on.

    down, up:         bytes of messages, as Flower counts them
    broadcast:        seconds to make it
    training, coding: seconds that nodes say they took, all of them together
    trained:          seconds until all had answered
    aggregate:        of these, seconds to decode and aggregate
    """

    began: float = field(default_factory=time.perf_counter)
    down: int = 0
    up: int = 0
    refused: int = 0
    train_loss: float | None = None
    accuracy: float | None = None
    test_loss: float | None = None
    broadcast: float = 0.0
    training: float = 0.0
    coding: float = 0.0
    trained: float = 0.0
    aggregate: float = 0.0


class Journal:
    """What is noted while rounds go on; without a folder it is kept in memory only."""

    def __init__(self, folder: Path | None) -> None:
        self.rounds: list[Round] = []
        self._results = None if folder is None else Results(folder)
        self._distances: dict[int, float] = {}
        self._seconds = 0.0
        self._lock = ExitStack()
        self.notes: Notes | None = None

    def begin(self, scheme: str, rounds: int, seed: int, *, done: int) -> None:
        """Make the folder ready, or open it again after so many rounds."""
        if self._results is None:
            return
        folder = self._results.folder
        if folder.exists() and any(folder.iterdir()) and not self._results.config.is_file():
            allowed = "a new folder, or an empty one"
            raise InputError("results", of="LossyStrategy", allowed=allowed, got=str(folder))
        self._lock.enter_context(self._results.locked())
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
        self.notes.down += size if down else 0
        self.notes.up += 0 if down else size

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
        """Note how long a node took."""
        if self.notes is not None:
            self.notes.training += up.training
            self.notes.coding += up.coding

    def looked(self, metrics: MetricRecord | None) -> None:
        """Note what somebody saw of the model that the round made; the first one counts."""
        if self.notes is not None and self.notes.accuracy is None:
            self.notes.accuracy = _metric(metrics, "acc")
            self.notes.test_loss = _metric(metrics, "loss")

    def flush(self, server: Server | None) -> None:
        """Write down the round that is over, if there is one."""
        if self.notes is None or server is None:
            return
        # The broadcast of the next round may be out already.
        last = server.round - (1 if server.is_open else 0)
        ledger = server.ledger.drain(through=last)
        down, up = traffic(ledger)
        total = time.perf_counter() - self.notes.began
        record = Round(
            round=last,
            accuracy=self.notes.accuracy,
            test_loss=self.notes.test_loss,
            train_loss=self.notes.train_loss,
            eps=ledger.eps.get(last),
            distance=self._distances.pop(last, 0.0),
            replies=ledger.total("up").frames,
            late=self.notes.refused,
            late_bytes=0,
            away=0,
            down=replace(down, carrier=self.notes.down),
            up=replace(up, carrier=self.notes.up),
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
        self.notes = None
        self.rounds.append(record)
        if self._results is not None:
            self._results.append(record, ledger)
            self._results.write_about("running", self.rounds, COMMAND)

    def end(self, server: Server | None) -> None:
        """Write down the last round, and that it was the last."""
        self.flush(server)
        if self._results is not None:
            self._results.write_about("done", self.rounds, COMMAND)
            self._lock.close()


def _size(record: ArrayRecord | MetricRecord | ConfigRecord) -> int:
    """The bytes of a record, as Flower counts them; it cannot count a record with an empty value."""
    try:
        return record.count_bytes()
    except (ValueError, IndexError, TypeError):
        return sum(len(str(value)) for value in record.values())


def _metric(metrics: MetricRecord | None, word: str) -> float | None:
    """The first metric whose name has this word."""
    for name, value in () if metrics is None else metrics.items():
        if word in name.lower() and isinstance(value, int | float):
            return float(value)
    return None
