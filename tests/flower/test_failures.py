"""What goes wrong says what to do about it."""

import errno
import math
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp.strategy import FedAdam, FedAvg
from tests.flower.app import NODES, accuracy, look, make_app, start
from tests.flower.grid import LocalGrid

from lossyfl.errors import DiskError, InputError
from lossyfl.files.disk import Operation, watched
from lossyfl.flower import LossyStrategy, lossy_mod
from lossyfl.report.runs import read
from lossyfl.results.records import read_rounds


def fedavg(**settings: float) -> FedAvg:
    return FedAvg(**{"fraction_evaluate": 0.0, "min_available_nodes": NODES, **settings})


@pytest.mark.parametrize("scheme", [None, 3, b"lfl", ["lfl"]])
def test_a_scheme_that_is_no_text(scheme: object) -> None:
    with pytest.raises(InputError, match=r'scheme of LossyStrategy must be a text, .* "lossless"'):
        LossyStrategy(fedavg(), scheme)  # type: ignore[arg-type]


def test_results_in_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    lossy = LossyStrategy(fedavg(), results=tmp_path / "file/results")
    with pytest.raises(InputError, match=r"^results of LossyStrategy must be a folder that can be"):
        lossy.start(LocalGrid(make_app(lossy_mod), NODES, tmp_path), start(), num_rounds=1)


class TestSecondStart:
    def test_is_another_training(self, tmp_path: Path) -> None:
        """As with Flower's own strategies: the same model from the same start, and what was noted is anew."""
        lossy = LossyStrategy(fedavg(), "lfl:q1=8,q2=8")
        models: list[bytes] = []
        for turn in range(2):
            grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
            result = lossy.start(grid, start(), num_rounds=3 + turn, evaluate_fn=look)
            assert [each.round for each in lossy.rounds] == list(range(3 + turn))
            assert all(each.replies == NODES for each in lossy.rounds)
            assert accuracy(result.arrays) > 0.3
            models.append(result.arrays["w"].data)
        again = LossyStrategy(fedavg(), "lfl:q1=8,q2=8")
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        assert again.start(grid, start(), num_rounds=4).arrays["w"].data == models[1]

    def test_of_another_model(self, tmp_path: Path) -> None:
        lossy, grid = LossyStrategy(fedavg()), LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        lossy.start(grid, start(), num_rounds=1)
        grid = LocalGrid(echo(lambda arrays: arrays), NODES, tmp_path)
        other = ArrayRecord({"other": Array(np.ones(7, np.float32))})
        assert lossy.start(grid, other, num_rounds=1).arrays["other"].numpy().sum() == 7

    def test_into_the_same_results_says_so(self, tmp_path: Path) -> None:
        lossy = LossyStrategy(fedavg(), results=tmp_path / "results")
        lossy.start(LocalGrid(make_app(lossy_mod), NODES, tmp_path / "a"), start(), num_rounds=1)
        with pytest.raises(InputError, match="results of LossyStrategy must be a new folder"):
            lossy.start(LocalGrid(make_app(lossy_mod), NODES, tmp_path), start(), num_rounds=1)

    def test_with_a_checkpoint_goes_on(self, tmp_path: Path) -> None:
        lossy = LossyStrategy(fedavg(), save_to=tmp_path / "saved")
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path / "a")
        lossy.start(grid, start(), num_rounds=2)
        lossy.start(grid, start(), num_rounds=3)
        assert [each.round for each in lossy.rounds] == [2]


def echo(change: Callable[[ArrayRecord], ArrayRecord]) -> ClientApp:
    """An app that returns the model, changed."""
    app = ClientApp(mods=[lossy_mod])

    @app.train()
    def train(message: Message, _: Context) -> Message:
        arrays = change(message.content["arrays"])
        metrics = MetricRecord({"num-examples": 1})
        return Message(RecordDict({"arrays": arrays, "metrics": metrics}), reply_to=message)

    return app


def test_replies_whose_arrays_have_lost_their_names(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Flower names the arrays of a list "0", "1", ..."""
    app = echo(lambda arrays: ArrayRecord(arrays.to_numpy_ndarrays()))
    LossyStrategy(fedavg()).start(LocalGrid(app, NODES, tmp_path), start(), num_rounds=1)
    assert "a list of arrays has no names: make it a dict, or a state_dict" in caplog.text


@pytest.mark.parametrize("inner", [FedAvg, FedAdam])
def test_a_metric_that_is_nan_does_not_drop_the_update(inner: type[FedAvg], tmp_path: Path) -> None:
    def change(reply: Message, node: int) -> None:
        if node == 1000:
            reply.content["metrics"]["train-loss"] = math.nan

    lossy = LossyStrategy(inner(fraction_evaluate=0.0, min_available_nodes=NODES))
    grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path, change=change)
    result = lossy.start(grid, start(), num_rounds=2)
    assert [each.replies for each in lossy.rounds] == [NODES, NODES]
    assert math.isfinite(result.train_metrics_clientapp[2]["train-loss"])


def full(below: Path, writes: int = 60) -> Callable[[Operation], None]:
    """A disk without room after so many writes: from the second round on."""
    begun: list[Operation] = []

    def hook(operation: Operation) -> None:
        if below in operation.path.parents and operation.name == "write":
            begun.append(operation)
            if len(begun) > writes:
                raise OSError(errno.ENOSPC, "No space left on device", str(operation.path))

    return hook


def full_for_a_while(below: Path, writes: int = 3) -> Callable[[Operation], None]:
    """A disk without room for some writes after round 1; the first of them is a line of which half fits."""
    failed: list[Operation] = []

    def hook(operation: Operation) -> None:
        is_later = (below / "rounds.jsonl").is_file() and (below / "rounds.jsonl").stat().st_size
        if below not in operation.path.parents or operation.name != "write" or not is_later:
            return
        if operation.path.name in ("rounds.jsonl", "ledger.csv") and len(failed) < writes:
            failed.append(operation)
            os.write(operation.fd, bytes(operation.data)[:20])
            raise OSError(errno.ENOSPC, "No space left on device", str(operation.path))

    return hook


class TestFullDisk:
    def test_of_a_node(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        lossy = LossyStrategy(fedavg())
        with watched(full(tmp_path)):
            lossy.start(grid, start(), num_rounds=8)
        assert "with room for it: lossyfl flower clean shows what lies there" in caplog.text
        lossy.start(LocalGrid(make_app(lossy_mod), NODES, tmp_path), start(), num_rounds=2)
        assert lossy.rounds[-1].replies == NODES

    def test_of_the_results(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        """The same model, and rounds that could not be written are when there is room again."""
        models: list[bytes] = []
        for name in ("full", "ample"):
            results = tmp_path / name
            lossy = LossyStrategy(fedavg(), results=results)
            grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path / "nodes")
            with watched(full_for_a_while(tmp_path / "full")):
                models.append(lossy.start(grid, start(), num_rounds=5).arrays["w"].data)
            assert read_rounds(results / "rounds.jsonl") == lossy.rounds
            assert read(results).about.state == "done"
        assert models[0] == models[1]
        assert (
            caplog.text.count("make room: training goes on, and they are written as soon as") == 1
        )
        assert "results are written again, and all rounds are there" in caplog.text

    def test_of_the_results_to_the_end(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        results = tmp_path / "results"
        lossy = LossyStrategy(fedavg(), results=results)
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path / "nodes")
        with watched(full_for_a_while(results, writes=10**6)):
            result = lossy.start(grid, start(), num_rounds=4)
        assert result.arrays["w"].numpy().any()
        assert "results end before round 2" in caplog.text
        assert [each.round for each in read(results).rounds] == [0]
        assert len((results / "ledger.csv").read_text().splitlines()) == 1 + 1 + NODES

    def test_of_the_checkpoint(self, tmp_path: Path) -> None:
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path / "nodes")
        (tmp_path / "server").mkdir()
        saved = tmp_path / "server/saved"
        lossy = LossyStrategy(fedavg(), save_to=saved)
        with (
            watched(full(tmp_path / "server", writes=20)),
            pytest.raises(DiskError, match=r"make room, and start it again: .* after round \d"),
        ):
            lossy.start(grid, start(), num_rounds=30)
        again = LossyStrategy(fedavg(), save_to=saved)
        again.start(grid, start(), num_rounds=30)
        assert again.rounds[0].round > 0


class TestStopped:
    """By whatever: results are whole, and say why."""

    @pytest.mark.parametrize(
        ("error", "state", "why"),
        [
            (KeyboardInterrupt, "interrupted", ""),
            (RuntimeError, "stopped", "RuntimeError: no more"),
        ],
    )
    def test_while_evaluating(
        self, error: type[BaseException], state: str, why: str, tmp_path: Path
    ) -> None:
        def look(server_round: int, _: ArrayRecord) -> MetricRecord:
            if server_round == 2:
                raise error("no more")
            return MetricRecord({"accuracy": 0.5})

        lossy = LossyStrategy(fedavg(), results=tmp_path / "results")
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path / "nodes")
        with pytest.raises(error):
            lossy.start(grid, start(), num_rounds=4, evaluate_fn=look)
        run = read(tmp_path / "results")
        assert (run.about.state, run.about.why) == (state, why)
        assert [each.round for each in run.rounds] == [0]
