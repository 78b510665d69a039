"""The server's side of a training, as an adapter without a framework uses it."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.adapters.federation import add_one, new_training, play_round, serve, start

from lossyfl.adapters.arrays import Array, whole_values
from lossyfl.adapters.saved import Saved
from lossyfl.errors import InputError, Refused
from lossyfl.protocol.digests import NOTHING

ALL = dict.fromkeys(range(3), add_one)


def test_what_all_add_is_what_the_model_gets(tmp_path: Path) -> None:
    """Three devices add one in each of three rounds; q = 8 sends steps of one size exactly."""
    training = new_training()
    for _ in range(3):
        assert play_round(training, ALL, tmp_path) == {}
    assert whole_values(training.model["n"]) == 3
    np.testing.assert_allclose(whole_values(training.model["w"]), 3, rtol=0.05)


def test_a_device_that_has_the_model_is_sent_no_more_than_the_update(tmp_path: Path) -> None:
    training = new_training()
    play_round(training, ALL, tmp_path)
    training.open()
    new, old = training.down_for(7), training.down_for(0)
    assert new.layout
    assert old.layout == ""
    assert len(b"".join(old.frames)) < len(b"".join(new.frames))


def test_a_device_that_slept_catches_up(tmp_path: Path) -> None:
    training = new_training()
    play_round(training, ALL, tmp_path)
    for _ in range(2):
        play_round(training, {0: add_one, 1: add_one}, tmp_path)
    training.open()
    assert len(training.down_for(2).frames) == 3
    assert play_round(training, ALL, tmp_path) == {}


def test_a_device_that_lost_its_disk_is_sent_everything_next_time(tmp_path: Path) -> None:
    training = new_training()
    play_round(training, ALL, tmp_path)
    shutil.rmtree(tmp_path / training.name / "1")
    refused = play_round(training, ALL, tmp_path)
    assert {number: error.reason for number, error in refused.items()} == {1: "out of step"}
    assert training.peers[1].held == NOTHING
    assert play_round(training, ALL, tmp_path) == {}


def test_a_reply_that_means_harm_is_refused(tmp_path: Path) -> None:
    training = new_training()
    play_round(training, ALL, tmp_path)
    hostile = {
        3: lambda model: {**model, "w": Array.of(1e6 + whole_values(model["w"]))},
        4: lambda model: {**model, "n": Array.of(whole_values(model["n"]) + 10**6)},
    }
    for _ in range(2):  # they join, and come again
        refused = play_round(training, {**ALL, **hostile}, tmp_path)
        assert {number: error.reason for number, error in refused.items()} == {
            3: "outlier",
            4: "outlier",
        }
    assert whole_values(training.model["n"]) == 3


def test_numbers_that_were_made_of_ids_are_taken_back(tmp_path: Path) -> None:
    training = new_training()
    training.open()
    up = serve(training.down_for(1234), 2, tmp_path)
    assert training.hear(1234, up) == 2
    training.rename()
    assert training.server.members == (2,)


def test_a_checkpoint_is_gone_on_from(tmp_path: Path) -> None:
    training = new_training()
    for _ in range(2):
        play_round(training, ALL, tmp_path)
    training.saved(2).write(tmp_path / "saved", training.exact)
    saved, exact = Saved.read(tmp_path / "saved")
    again = new_training()
    again.resume(saved, exact, start(), again.layout)
    shutil.copytree(tmp_path / training.name, tmp_path / "copy" / training.name)
    for own, root in ((training, tmp_path), (again, tmp_path / "copy")):
        assert play_round(own, ALL, root) == {}
    assert again.server.theta.tobytes() == training.server.theta.tobytes()
    assert again.rounds_before == 2


def test_another_model_is_taken_between_rounds(tmp_path: Path) -> None:
    training = new_training()
    play_round(training, ALL, tmp_path)
    training.change({**start(), "n": Array.of(np.array(50))})
    assert whole_values(training.model["w"]).tolist() == [0] * 60
    assert whole_values(training.model["n"]) == 50


def test_there_is_no_server_before_the_model() -> None:
    training = new_training()
    training.server_or_none = None
    with pytest.raises(InputError, match="server of the server must be asked for later"):
        _ = training.server


def test_a_reply_of_nothing_is_refused_as_damaged(tmp_path: Path) -> None:
    training = new_training()
    play_round(training, ALL, tmp_path)
    training.open()
    up = serve(training.down_for(0), 0, tmp_path)
    training.begin_replies({0: 5}, {0: up})
    with pytest.raises(Refused, match="damaged"):
        training.server.accept(0, b"")
