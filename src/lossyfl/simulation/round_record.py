"""What is written down of a round, from the server, its ledger and the devices' results."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lossyfl.protocol.ledger import Ledger
from lossyfl.protocol.measures import Measured, mean, measure
from lossyfl.protocol.server import Server
from lossyfl.results.records import Round, Seconds, downlink, traffic
from lossyfl.simulation.work import DeviceResult
from lossyfl.tasks.metrics import ACCURACY, Metric
from lossyfl.tasks.training import Score


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenRound:
    """What only an open round can tell, by the names of its record: closing it makes another model.

    to_each: whether every participant is sent frames of its own, as nobody else listens
    """

    round: int
    distance: float
    model_peak: float
    broadcast: Measured | None
    away: int
    to_each: bool = False

    @classmethod
    def measured(cls, server: Server, *, away: int) -> "OpenRound":
        """Of the round that is open, with so many devices away."""
        return cls(
            round=server.round,
            distance=float(np.linalg.norm(server.theta - server.estimate)),
            model_peak=measure(server.theta).peak,
            broadcast=server.measured,
            away=away,
            to_each=server.listen == "participants",
        )


def round_record(
    opened: OpenRound,
    results: Sequence[DeviceResult],
    weights: Sequence[float],
    ledger: Ledger,
    score: Score | None,
    seconds: Seconds,
    metrics: Sequence[Metric] = (ACCURACY,),
) -> Round:
    """The record of a round; `weights` are the samples of the devices that trained, `metrics` the task's."""
    down, up = traffic(ledger)
    late = [result for result in results if result.late]
    return Round(
        round=opened.round,
        metrics=score.metrics(metrics) if score else {},
        test_loss=score.loss / score.samples if score else None,
        train_loss=_train_loss(results, weights),
        eps=ledger.eps.get(opened.round),
        distance=opened.distance,
        model_peak=opened.model_peak,
        broadcast=opened.broadcast,
        reply=mean([result.measured for result in results]),
        memory=_rms([result.memory for result in results]),
        replies=len(results) - len(late),
        late=len(late),
        late_bytes=sum(len(result.frame) for result in late),
        away=opened.away,
        down=down,
        copies=downlink(ledger, "unicast") if opened.to_each else None,
        up=up,
        seconds=seconds,
    )


def _train_loss(results: Sequence[DeviceResult], weights: Sequence[float]) -> float | None:
    """The mean of the devices' losses by their samples."""
    sums = (w * result.loss for w, result in zip(weights, results, strict=True))
    return sum(sums) / sum(weights) if results else None


def _rms(values: Sequence[float]) -> float | None:
    """The root of the mean square, of as many devices as have trained."""
    return math.sqrt(sum(value * value for value in values) / len(values)) if values else None
