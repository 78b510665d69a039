"""What is noted of a round while it goes on, and the bytes that it took."""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from lossyfl.results.records import Round, Traffic
from lossyfl.results.task_facts import TaskFacts
from lossyfl.tasks.metrics import ACCURACY, LONGEST, Metric


@dataclass(slots=True, kw_only=True)
class Notes:
    """Of the round that goes on.

    metrics:          what evaluations said, by the names they gave
    down, up:         bytes of messages, as the framework counts them
    exact:            bytes of what travels to devices as it is, beside frames
    exact_of_reply:   the same in the reply of one, which is as long in all
    messages:         to devices, for training and evaluation
    broadcast:        seconds to make it
    training, coding: seconds that devices say they took, all of them together
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
    metrics: dict[str, float] = field(default_factory=dict[str, float])
    test_loss: float | None = None
    broadcast: float = 0.0
    training: float = 0.0
    coding: float = 0.0
    trained: float = 0.0
    aggregate: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class BytesSent:
    """Bytes to and from all devices: frames and what travels exactly, the model as it is, whole messages.

    catch_up: of `down`
    """

    down: int = 0
    up: int = 0
    plain_down: int = 0
    plain_up: int = 0
    carrier_down: int = 0
    carrier_up: int = 0
    catch_up: int = 0

    @classmethod
    def of(cls, record: Round) -> "BytesSent":
        """Those of a round."""
        return cls(
            down=record.down.unicast,
            up=record.up.unicast,
            plain_down=record.down.plain,
            plain_up=record.up.plain,
            carrier_down=record.down.carrier,
            carrier_up=record.up.carrier,
            catch_up=record.handed.catch_up,
        )

    def __add__(self, other: "BytesSent") -> "BytesSent":
        return BytesSent(
            **{key: value + getattr(other, key) for key, value in asdict(self).items()}
        )

    def text(self, messages: str) -> str:
        """In a sentence; `messages` are what carries ours."""
        late = f" ({_bytes(self.catch_up)} of it catch-up)" if self.catch_up else ""
        down = f"{_bytes(self.down)} down{late} for {_bytes(self.plain_down)} as they are"
        up = f"{_bytes(self.up)} up for {_bytes(self.plain_up)}"
        carried = f"{_bytes(self.carrier_down)} down, {_bytes(self.carrier_up)} up"
        return f"{down}, {up} ({messages}: {carried})"


def metric(metrics: Mapping[str, object] | None, word: str) -> float | None:
    """The first metric whose name has this word."""
    for name, value in () if metrics is None else metrics.items():
        if word in name.lower() and isinstance(value, int | float) and math.isfinite(value):
            return float(value)
    return None


LOWER = ("loss", "err", "mse", "mae", "perplexity", "ppl", "nll", "bits", "distance")
"""Words in the names of metrics of which lower values are better, as far as names can tell."""
MOST = 20
"""Metrics of one evaluation that are kept."""


def metrics_of(said: Mapping[str, object]) -> dict[str, float]:
    """What an evaluation measured beside the loss: the accuracy, whatever it is called, then all others.

    >>> metrics_of({"loss": 0.1, "eval_acc": 0.9, "mse": 2, "note": "x"})
    {'accuracy': 0.9, 'mse': 2.0}
    """
    accuracy = metric(said, "acc")
    found = {} if accuracy is None else {ACCURACY.name: accuracy}
    for name, value in said.items():
        told = any(word in name.lower() for word in ("acc", "loss", "num-examples"))
        if told or len(found) >= MOST or not _is_good(name):
            continue
        if isinstance(value, int | float) and math.isfinite(value):
            found[name] = float(value)
    return found


def facts_of(name: str, rounds: Sequence[Round]) -> TaskFacts:
    """What rounds tell of a task: the metrics that were noted; better, as their names say."""
    names = dict.fromkeys(each for record in rounds for each in record.metrics)
    metrics = [ACCURACY if each == ACCURACY.name else _metric(each) for each in names]
    return TaskFacts(name=name, metrics=tuple(metrics) or (ACCURACY,))


def _metric(name: str) -> Metric:
    lower = any(word in name.lower() for word in LOWER)
    return Metric(name=name, better="lower" if lower else "higher")


def _is_good(name: str) -> bool:
    return name.isprintable() and len(name.strip()) > 0 and len(name) <= LONGEST


def with_exact(side: Traffic, exact: int) -> Traffic:
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


def _bytes(count: int) -> str:
    """A number of bytes, to three digits."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count} B"
