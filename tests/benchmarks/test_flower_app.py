"""Our app on a grid in this process: it trains a task, and writes down what came of every round."""

import json
from pathlib import Path

import numpy as np
import pytest
from flwr.app.user_config import UserConfig
from tests.flower.grid import LocalGrid
from tests.flower.parity import CONFIG

from benchmarks import flower_app as app
from benchmarks.flower import PLAIN
from lossyfl.errors import InputError, Stopped
from lossyfl.flower.strategy import LossyStrategy

ASKED: UserConfig = {**CONFIG, "rounds": 2, "devices": 3}


def played(out: Path, scheme: str, lost: float = 0.0) -> list[dict[str, float]]:
    """What our app wrote down of every evaluation."""
    out.mkdir()
    client = app.plain_client if scheme == PLAIN else app.lossy_client
    grid = LocalGrid(client, 3, out / "state", lost=lost)
    app.play(grid, {**ASKED, "scheme": scheme, "out": str(out)})
    return [json.loads(line) for line in (out / "progress.jsonl").read_text().splitlines()]


class TestPlay:
    def test_writes_down_every_round_and_the_initial_model(self, tmp_path: Path) -> None:
        lines = played(tmp_path / "out", "lfl:q1=8,q2=8")
        assert [line["round"] for line in lines] == [0, 1, 2]
        assert [line["replies"] for line in lines] == [0, 3, 3]
        assert all(line["trained"] <= line["time"] for line in lines)
        assert lines[2]["accuracy"] > lines[0]["accuracy"]

    def test_the_model_at_the_end_is_the_one_that_was_evaluated_last(self, tmp_path: Path) -> None:
        lines = played(tmp_path / "out", "lfl:q1=8,q2=8")
        _, trainer = app.built(app.settings(ASKED))
        theta = np.load(tmp_path / "out/theta.npy")
        assert app.evaluate(trainer, theta) == lines[-1]["accuracy"]

    def test_plain_is_as_good_as_lossless(self, tmp_path: Path) -> None:
        for name in (PLAIN, "lossless"):
            played(tmp_path / name, name)
        plain, ours = (np.load(tmp_path / f"{name}/theta.npy") for name in (PLAIN, "lossless"))
        np.testing.assert_allclose(ours, plain, rtol=1e-4, atol=1e-5)
        assert (tmp_path / "lossless/results/rounds.jsonl").is_file()
        assert not (tmp_path / PLAIN / "results").exists()

    def test_without_a_reply_there_is_no_model_to_save(self, tmp_path: Path) -> None:
        with pytest.raises(Stopped, match="no device replied in any round"):
            played(tmp_path / "out", PLAIN, lost=1.0)


class TestStrategy:
    @pytest.mark.parametrize(("share", "nodes"), [(1.0, 10), (0.4, 4), (0.01, 1)])
    def test_asks_a_share_of_all_nodes(self, share: float, nodes: int, tmp_path: Path) -> None:
        config: UserConfig = {"scheme": PLAIN, "participation": share}
        made = app.strategy(config, 10, tmp_path, int)
        assert (made.min_train_nodes, made.min_available_nodes) == (nodes, 10)

    def test_saves_if_it_is_asked_to(self, tmp_path: Path) -> None:
        for save, path in ((True, tmp_path / "saved"), (False, None)):
            made = app.strategy({"scheme": "lfl", "save": save}, 3, tmp_path, int)
            assert isinstance(made, LossyStrategy)
            assert made._save_to == path


class TestSettings:
    def test_are_those_of_lossyfl_run_and_nothing_else(self) -> None:
        asked = app.settings({**ASKED, "out": "here", "server-round": 3})
        assert (asked.devices, asked.tau, asked.scheme) == (3, 4, CONFIG["scheme"])

    def test_plain_has_the_data_of_a_run_without_quantizing(self) -> None:
        assert app.settings({**ASKED, "scheme": PLAIN}).scheme == "lossless"

    def test_that_are_wrong_say_so(self) -> None:
        with pytest.raises(InputError, match="devices"):
            app.settings({**ASKED, "devices": 0})


def test_a_model_is_its_tensors() -> None:
    setup, _ = app.built(app.settings(ASKED))
    record = app.split(setup.theta, setup.places)
    assert list(record) == [place.name for place in setup.places]
    assert np.array_equal(app.joined(record, setup.places), setup.theta)
