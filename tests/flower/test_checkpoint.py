"""A training that goes on from its checkpoint, and checkpoints from which none can go on."""

import stat
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord
from tests.flower.app import NODES, make_app, start
from tests.flower.grid import LocalGrid
from tests.flower.trainings import INNER, final, inner, play

from lossyfl.adapters.peers import Known
from lossyfl.adapters.saved import Kept, Saved
from lossyfl.errors import InputError
from lossyfl.files import snapshot
from lossyfl.flower import LossyStrategy, lossy_mod
from lossyfl.flower.checkpoint import save
from lossyfl.protocol.digests import NOTHING
from lossyfl.results import ledger_file
from lossyfl.results.records import read_rounds

KEPT = Kept(attribute="m_t", holder="dict", name="w", dtype="<f4", shape=(2,), data=b"\0" * 8)


class TestCheckpoint:
    @pytest.mark.parametrize("name", ["FedAvg", "FedAdam", "FedAvgM"])
    def test_goes_on_to_the_same_model(self, name: str, tmp_path: Path) -> None:
        def train(folder: Path, *stops: int) -> bytes:
            grid = LocalGrid(make_app(lossy_mod), NODES, folder / "state")
            data = b""
            for rounds in stops:
                lossy = LossyStrategy(
                    inner(name), save_to=folder / "saved", results=folder / "results"
                )
                data = play(lossy, grid, rounds).arrays["w"].data
            return data

        assert train(tmp_path / "a", 3, 6) == train(tmp_path / "b", 6)
        first, second = (read_rounds(tmp_path / f"{x}/results/rounds.jsonl") for x in "ab")
        assert [(r.round, r.replies, r.up.nbytes) for r in first] == [
            (r.round, r.replies, r.up.nbytes) for r in second
        ]
        ledgers = [
            # replies name their training, which is another: the checksum of a frame shows it
            [
                replace(e, frame=0)
                for e in ledger_file.read(tmp_path / f"{x}/results/ledger.csv").entries
            ]
            for x in "ab"
        ]
        assert sorted(map(str, ledgers[0])) == sorted(map(str, ledgers[1]))

    def test_nodes_that_are_ahead_come_back(self, tmp_path: Path) -> None:
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path / "state")
        saved = tmp_path / "saved"
        play(LossyStrategy(inner(), save_to=saved), grid, 3)
        old = saved.read_bytes()
        play(LossyStrategy(inner(), save_to=saved), grid, 6)
        saved.write_bytes(old)
        lossy = LossyStrategy(inner(), save_to=saved)
        assert final(play(lossy, grid, 12)) > 0.8
        assert lossy.rounds[-1].replies == NODES

    def test_of_another_scheme(self, tmp_path: Path) -> None:
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path / "state")
        play(LossyStrategy(inner(), save_to=tmp_path / "saved"), grid, 1)
        with pytest.raises(InputError, match="scale=tensor, as in the checkpoint"):
            play(LossyStrategy(inner(), "lb", save_to=tmp_path / "saved"), grid, 2)

    def test_says_whose_settings_win(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        play(LossyStrategy(inner("FedAdam"), save_to=tmp_path / "saved"), grid, 1)
        again = LossyStrategy(inner("FedAdam", eta=0.5), save_to=tmp_path / "saved")
        play(again, grid, 2)
        assert again.eta == INNER["FedAdam"]["eta"]
        assert "eta of FedAdam is 0.03 as in the checkpoint, not 0.5" in caplog.text
        assert "beta_1 of" not in caplog.text

    def test_with_nan_is_never_written(self, tmp_path: Path) -> None:
        saved = tmp_path / "saved"
        lossy = LossyStrategy(inner(), save_to=saved)
        play(lossy, LocalGrid(make_app(lossy_mod), NODES, tmp_path / "state"), 1)
        before = saved.read_bytes()
        lossy.server._theta = lossy.server.theta.copy()
        lossy.server._theta[3] = np.nan
        with pytest.raises(InputError, match="theta of the checkpoint saved must be finite"):
            save(lossy._training, saved, 2)
        assert saved.read_bytes() == before
        assert stat.S_IMODE(saved.stat().st_mode) == 0o600

    @pytest.mark.parametrize("odd", [np.nan, np.inf, 3e38])
    @pytest.mark.parametrize("name", ["theta", "estimate"])
    def test_with_nan_of_an_older_version_says_what_to_do(
        self, name: str, odd: float, tmp_path: Path
    ) -> None:
        grid, path = LocalGrid(make_app(lossy_mod), NODES, tmp_path / "state"), tmp_path / "saved"
        play(LossyStrategy(inner(), save_to=path), grid, 1)
        saved, _ = Saved.read(path)
        getattr(saved.server, name)[3] = odd
        snapshot.save(path, saved)
        with pytest.raises(InputError, match="must begin anew, or from an older checkpoint"):
            play(LossyStrategy(inner(), save_to=path), grid, 2)

    @pytest.mark.parametrize(
        "change",
        [
            {"rounds": "1"},
            {"rounds": -1},
            {"training": 7},
            {"training": "\ud800"},
            {"training": "../other"},
            {"layout": "[["},
            {"nodes": (Known(node="x", number=0, held=NOTHING),)},
            {"inner": (replace(KEPT, attribute="aggregate_train"),)},
            {"inner": (replace(KEPT, attribute="nothing.m_t"),)},
            {"inner": (replace(KEPT, attribute="__dict__"),)},
            {"inner": (replace(KEPT, attribute="__weakref__"),)},
            {"inner": (replace(KEPT, attribute="beta_1", holder="number"),)},
            {"inner": (replace(KEPT, attribute="eta", holder="number", dtype="<U1", shape=()),)},
            {"inner": (replace(KEPT, dtype="O"),)},
            {"inner": (replace(KEPT, dtype="f4,(9,9)f4"),)},
            {"inner": (replace(KEPT, shape=(7,)),)},
        ],
    )
    def test_that_is_malformed(self, change: dict[str, object], tmp_path: Path) -> None:
        grid, path = LocalGrid(make_app(lossy_mod), NODES, tmp_path / "state"), tmp_path / "saved"
        play(LossyStrategy(inner("FedAdam"), save_to=path), grid, 1)
        snapshot.save(path, replace(Saved.read(path)[0], **change))
        with pytest.raises(InputError):
            play(LossyStrategy(inner("FedAdam"), save_to=path), grid, 2)

    def test_without_an_array_that_is_no_float(self, tmp_path: Path) -> None:
        grid, path = LocalGrid(make_app(lossy_mod), NODES, tmp_path / "state"), tmp_path / "saved"
        model = ArrayRecord({**start(), "n": Array(np.array([3]))})
        LossyStrategy(inner(), save_to=path).start(grid, model, num_rounds=1)
        snapshot.save(path, replace(Saved.read(path)[0], exact=()))
        with pytest.raises(InputError, match="array n of the checkpoint must be int64"):
            LossyStrategy(inner(), save_to=path).start(grid, model, num_rounds=2)
