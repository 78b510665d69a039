"""Where results lie, and what the nodes of a simulation leave."""

from pathlib import Path

import pytest
from flwr.serverapp.strategy import FedAvg
from tests.flower.app import NODES, make_app, start
from tests.flower.grid import LocalGrid

from lossyfl.adapters.folders import state_folders
from lossyfl.flower import LossyMod, LossyStrategy, lossy_mod


class InMemoryGrid(LocalGrid):
    """As Flower's simulation engine calls its own; nodes have no lossyfl-dir there."""

    def add(self, node: int, number: int | None) -> None:
        super().add(node, number)
        del self.contexts[node].node_config["lossyfl-dir"]


def fedavg() -> FedAvg:
    return FedAvg(fraction_evaluate=0.0, min_available_nodes=NODES)


class TestCleanUp:
    @pytest.mark.parametrize("saved", [False, True])
    def test_of_a_simulation(
        self, saved: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """With a checkpoint somebody may go on, so that it stays."""
        monkeypatch.setenv("LOSSYFL_STATE", str(tmp_path / "state"))
        grid = InMemoryGrid(make_app(lossy_mod), NODES, tmp_path)
        save_to = tmp_path / "saved" if saved else None
        LossyStrategy(fedavg(), save_to=save_to).start(grid, start(), num_rounds=2)
        assert len(state_folders(tmp_path / "state")) == (NODES if saved else 0)

    def test_of_another_folder_is_for_a_command_that_the_log_names(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setenv("LOSSYFL_STATE", str(tmp_path / "state"))
        app = make_app(LossyMod(state_dir=tmp_path / "own"))
        LossyStrategy(fedavg()).start(InMemoryGrid(app, NODES, tmp_path), start(), num_rounds=1)
        assert len(state_folders(tmp_path / "own")) == NODES
        assert "LossyMod(state_dir=...): lossyfl flower clean FOLDER" in caplog.text

    def test_not_of_a_deployment(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LOSSYFL_STATE", str(tmp_path))
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        LossyStrategy(fedavg()).start(grid, start(), num_rounds=1)
        assert len(state_folders(tmp_path)) == NODES
