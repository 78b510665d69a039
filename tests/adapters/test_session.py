"""The device's side of a message: its state is saved before the reply leaves, whatever happens."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.adapters.federation import (
    SPEC,
    add_one,
    new_training,
    play_round,
    serve,
    start,
    to_device,
)

from lossyfl.adapters.arrays import Array
from lossyfl.adapters.session import DeviceSession, DeviceSettings, opened
from lossyfl.adapters.store import Store
from lossyfl.errors import InputError, LossyflError
from lossyfl.protocol.schemes import scheme


def test_a_crash_before_the_reply_leaves_costs_no_update(tmp_path: Path) -> None:
    """What the lost reply carried comes with the next one, so that two steps arrive."""
    training = new_training(norm=False)
    play_round(training, {0: add_one, 1: add_one}, tmp_path)
    training.open()
    serve(training.down_for(0), 0, tmp_path)  # nobody hears it
    training.aggregate({})
    training.open()
    up = serve(training.down_for(0), 0, tmp_path)
    number = training.hear(0, up)
    before = training.server.estimate.copy()
    training.begin_replies({number: 5}, {number: up})
    training.server.accept(number, up.reply)
    training.server.close_round()
    np.testing.assert_allclose(training.server.theta - before, 2, rtol=0.1)


def fails(_: object) -> dict[str, Array]:
    raise ZeroDivisionError


def test_a_training_that_fails_leaves_the_estimate_where_it_went(tmp_path: Path) -> None:
    training = new_training()
    training.open()
    down = to_device(training.down_for(0))
    with (
        pytest.raises(ZeroDivisionError),
        opened(down, 0, DeviceSettings(root=tmp_path)) as session,
    ):
        session.serve(fails)
    store = Store(tmp_path, training.name, 0)
    with store.locked():
        assert store.load(SPEC).device.round == 0


def test_seconds_of_training_are_apart_from_those_of_coding(tmp_path: Path) -> None:
    training = new_training()
    training.open()
    up = serve(training.down_for(0), 0, tmp_path)
    assert up.training >= 0
    assert up.coding > 0


def test_arrays_that_the_trained_model_leaves_out_are_as_they_were(tmp_path: Path) -> None:
    training = new_training()
    training.open()
    up = serve(training.down_for(0), 0, tmp_path, lambda model: {"w": model["w"]})
    assert up.exact["n"] == start()["n"]


def test_an_evaluation_has_no_update(tmp_path: Path) -> None:
    training = new_training()
    training.open()
    down = to_device(training.down_for(0))
    with opened(down, 0, DeviceSettings(root=tmp_path)) as session:
        assert list(session.receive()) == ["w", "n"]
        up = session.finish(session.seen())
    assert (up.reply, up.problem, up.held) == (b"", "", down.held)


def test_a_model_of_another_shape_is_refused(tmp_path: Path) -> None:
    training = new_training()
    training.open()
    with pytest.raises(InputError, match="array w of the trained model must be float32"):
        serve(training.down_for(0), 0, tmp_path, lambda _: {"w": Array.of(np.zeros(3))})


def test_a_reply_needs_a_model(tmp_path: Path) -> None:
    training = new_training()
    training.open()
    store = Store(tmp_path, training.name, 0)
    with store.locked():
        session = DeviceSession(training.down_for(0), 0, scheme(SPEC), store, 1)
        with pytest.raises(InputError, match="model of a session must be received first"):
            session.reply(start())


def test_frames_that_lead_elsewhere_are_out_of_step(tmp_path: Path) -> None:
    training = new_training()
    training.open()
    down = to_device(training.down_for(0))
    training.aggregate({})
    training.open()
    ahead = to_device(training.down_for(0))
    wrong = replace(down, held=ahead.held)
    up = serve(wrong, 0, tmp_path)
    assert "the frames did not lead to" in up.problem
    assert up.held == down.held


def test_what_a_server_names_is_imported_only_if_it_is_allowed(tmp_path: Path) -> None:
    training = new_training()
    training.open()
    down = to_device(training.down_for(0))
    named = replace(down, scheme="tests.adapters.none:scheme")
    with pytest.raises(LossyflError, match="allow"):
        serve(named, 0, tmp_path)
