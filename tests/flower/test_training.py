"""One training from its start to its end: rounds are opened once, with the model that somebody gave last."""

import numpy as np
import pytest
from flwr.app import ArrayRecord, MetricRecord
from flwr.serverapp.strategy import FedAdam, FedAvg, Strategy
from tests.flower.app import start

from lossyfl.adapters.journal import Journal
from lossyfl.adapters.training import ServerSettings, ServerTraining
from lossyfl.errors import InputError
from lossyfl.flower.framework import FLOWER
from lossyfl.flower.inner import InnerSteps, averages
from lossyfl.flower.training import STAND_IN, Training
from lossyfl.protocol.schemes import scheme

SPEC = "lfl:q1=8,q2=8"


def training(inner: Strategy | None = None) -> Training:
    inner = inner or FedAvg()
    settings = ServerSettings(spec=SPEC, scheme=scheme(SPEC), framework=FLOWER)
    return Training(
        inner=inner,
        steps=InnerSteps(inner),
        side=ServerTraining(settings=settings),
        weights="capped",
        averages=averages(inner),
        journal=Journal(None, FLOWER),
    )


def ones() -> ArrayRecord:
    return ArrayRecord({name: type(own)(own.numpy() + 1) for name, own in start().items()})


class TestOpen:
    def test_opens_a_round_once(self) -> None:
        """Flower evaluates the model of a round with the next round's broadcast."""
        made, given = training(), start()
        made.open(given)
        assert (made.server.is_open, made.server.round) == (True, 0)
        frames = made.side.delivery(1).frames
        made.open(given)
        assert made.server.round == 0
        assert made.side.delivery(1).frames == frames

    def test_broadcasts_a_model_that_somebody_has_changed(self) -> None:
        made, given = training(), start()
        made.open(given)
        made.server.close_round()
        made.open(ones())
        np.testing.assert_allclose(made.server.estimate, 1, rtol=0.05)

    def test_a_model_comes_too_late_when_its_round_is_open(self) -> None:
        made = training()
        made.open(start())
        with pytest.raises(InputError):
            made.open(ones())

    def test_shows_a_model_to_those_who_take_no_mean_only(self) -> None:
        assert training().open(ones()) is STAND_IN
        shown = training(FedAdam()).open(ones())
        assert {name: own.shape for name, own in shown.items()} == {"w": (64, 10), "b": (10,)}
        np.testing.assert_allclose(shown["w"].numpy(), 1, rtol=0.05)  # as devices hold it


class TestWatched:
    def test_counts_rounds_of_the_whole_training(self) -> None:
        made = training()
        made.side.rounds_before = 5
        seen: list[int] = []
        watched = made.watched(lambda number, _: seen.append(number))
        for server_round in (0, 1):
            watched(server_round, start())
        assert seen == [5, 6]
        assert made.number(2) == 7

    def test_notes_what_the_server_measured_but_for_the_initial_model(self) -> None:
        made = training()
        made.journal.open()
        watched = made.watched(lambda number, _: MetricRecord({"accuracy": 0.5 + 0.25 * number}))
        watched(0, start())
        assert made.journal.notes is not None
        assert made.journal.notes.metrics == {}
        metrics = watched(1, start())
        assert made.journal.notes.metrics == {"accuracy": 0.75}
        assert metrics == MetricRecord({"accuracy": 0.75})
