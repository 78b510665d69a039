"""What a node does with the messages of a server that means no good."""

from pathlib import Path

import pytest
from flwr.serverapp.strategy import FedAvg
from tests.flower.app import make_app, start
from tests.flower.grid import LocalGrid
from tests.outsiders import NAME, SPEC, plant

from lossyfl.flower import LossyMod, LossyStrategy, lossy_mod

SCHEMES = [f"{NAME}:scheme", f"lean:down={SPEC}", f"lfl:server_optimizer={NAME}:Optimizer"]


def train(spec: str, folder: Path, mod: LossyMod = lossy_mod, **config: str) -> LocalGrid:
    """One round of a server whose messages name a scheme that it need not have itself."""
    lossy = LossyStrategy(FedAvg(fraction_evaluate=0.0), "lfl")
    lossy.spec = spec
    grid = LocalGrid(make_app(mod), 2, folder / "state")
    for context in grid.contexts.values():
        context.node_config |= config
    lossy.start(grid, start(), num_rounds=1)
    return grid


class TestForeignCode:
    @pytest.mark.parametrize("spec", SCHEMES)
    def test_is_not_imported(
        self,
        spec: str,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        mark = plant(tmp_path, monkeypatch)
        caplog.set_level("INFO", "flwr")
        train(spec, tmp_path)
        assert not mark.exists()
        refused = [
            r.getMessage() for r in caplog.records if "allowed here: at the node" in r.msg % r.args
        ]
        assert any("Received error" in said for said in refused)  # at the server
        assert any(said.startswith("lossyfl: ") for said in refused)  # at the node

    def test_is_imported_where_the_node_allows_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mark = plant(tmp_path, monkeypatch)
        train(f"{NAME}:scheme", tmp_path, LossyMod(allow=[f"{NAME}:scheme"]))
        assert mark.exists()

    def test_is_imported_where_the_nodes_config_allows_it(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        mark = plant(tmp_path, monkeypatch)
        allow = {"lossyfl-allow": f"other:Thing {SPEC}"}
        train(f"lean:down={SPEC}", tmp_path, **allow)
        assert mark.exists()
