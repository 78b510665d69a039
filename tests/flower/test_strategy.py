"""Strategy and mod together, in one process: Flower's strategies, apps and messages, no network."""

import random
from pathlib import Path

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import strategy as strategies
from flwr.serverapp.strategy import FedAvg, FedProx
from tests.flower.app import NODES, make_app
from tests.flower.grid import LocalGrid
from tests.flower.trainings import INNER, final, given, inner, play

from lossyfl import report
from lossyfl.adapters.remembered import Remembered
from lossyfl.errors import InputError
from lossyfl.files import snapshot
from lossyfl.flower import LossyMod, LossyStrategy, lossy_mod
from lossyfl.protocol.broadcaster import Broadcaster


@pytest.mark.parametrize("name", INNER)
def test_every_strategy_learns_as_it_does_plain(name: str, tmp_path: Path) -> None:
    rounds = 5 if name in ("Bulyan", "QFedAvg") else 20  # these two take seconds a round, plain too
    plain = final(play(inner(name), LocalGrid(make_app(), NODES, tmp_path), rounds))
    lossy = LossyStrategy(inner(name), "lfl:q1=8,q2=8")
    learned = final(play(lossy, LocalGrid(make_app(lossy_mod), NODES, tmp_path), rounds))
    assert plain > 0.6
    assert learned > plain - 0.05
    assert lossy.rounds[-1].down.nbytes < 4 * 650 / 2


@pytest.mark.parametrize(
    "spec",
    [
        "lossless",
        "lb:q2=8",
        "lfl",
        "lgm:q1=64",
        "ltgm:q1=64",
        "lean:down_budget=4bit,up=topk,first_budget=8bit",
        "lean:down_budget=4bit,predict=true",
        "lean:down_budget=4bit,first_budget=8bit,grid=true",
        "lfl:grid=true",
    ],
)
def test_every_scheme(spec: str, tmp_path: Path) -> None:
    lossy = LossyStrategy(inner(), spec)
    assert final(play(lossy, LocalGrid(make_app(lossy_mod), NODES, tmp_path))) > 0.8


def test_nodes_that_were_not_asked_catch_up_in_one_frame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same training to the bit as with updates one by one, and fewer bytes down."""

    def trained(folder: Path) -> tuple[list[bytes], int]:
        random.seed(5)  # by which Flower samples nodes
        lossy = LossyStrategy(
            inner(fraction_train=0.3), "lean:down_budget=2bit,first_budget=8bit,grid=true"
        )
        result = play(lossy, LocalGrid(make_app(lossy_mod), NODES, folder))
        bits = [array.numpy().tobytes() for array in result.arrays.values()]
        return bits, sum(each.down.unicast for each in lossy.rounds)

    merged, fewer = trained(tmp_path / "merged")
    monkeypatch.setattr(Broadcaster, "_merged", lambda *_: b"")
    one_by_one, more = trained(tmp_path / "one by one")
    assert merged == one_by_one
    assert fewer < more


class TestEvaluation:
    def test_costs_nothing_extra_but_a_last_broadcast(self, tmp_path: Path) -> None:
        """After the last round no training follows that would need it."""
        lossy = LossyStrategy(inner(fraction_evaluate=1.0))
        play(lossy, LocalGrid(make_app(lossy_mod), NODES, tmp_path), 6)
        without = LossyStrategy(inner())
        play(without, LocalGrid(make_app(lossy_mod), NODES, tmp_path), 6)
        *before, last = [r.down.unicast for r in lossy.rounds]
        *plain_before, plain_last = [r.down.unicast for r in without.rounds]
        assert before == plain_before
        assert plain_last < last < 2.5 * plain_last

    def test_is_of_the_estimate(self, tmp_path: Path) -> None:
        lossy = LossyStrategy(inner(fraction_evaluate=1.0), "lfl:q1=8,q2=8")
        result = play(lossy, LocalGrid(make_app(lossy_mod), NODES, tmp_path), 6)
        assert result.evaluate_metrics_clientapp[6]["eval-accuracy"] > 0.8

    def test_leaves_the_apps_own_arrays(self, tmp_path: Path) -> None:
        def change(reply: Message, node: int) -> None:
            if "eval-accuracy" in reply.content["metrics"]:
                reply.content["mine"] = ArrayRecord({"a": Array(np.array([node]))})

        got: list[RecordDict] = []

        def keep(contents: list[RecordDict], _: str) -> MetricRecord:
            got.extend(contents)
            return MetricRecord()

        fedavg = FedAvg(min_available_nodes=NODES, evaluate_metrics_aggr_fn=keep)
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path, change=change)
        play(LossyStrategy(fedavg), grid, 1)
        assert {tuple(sorted(content)) for content in got} == {("metrics", "mine")}
        assert {int(content["mine"]["a"].numpy()[0]) for content in got} == set(grid.contexts)


class TestResults:
    def test_are_read_by_the_report(self, tmp_path: Path) -> None:
        lossy = LossyStrategy(inner(fraction_evaluate=1.0), results=tmp_path / "results")
        play(lossy, LocalGrid(make_app(lossy_mod), NODES, tmp_path / "state"), 4)
        (run,) = report.find([tmp_path / "results"])
        assert [r.round for r in run.rounds] == [0, 1, 2, 3]
        assert (run.about.state, run.about.command) == ("done", "flwr run")
        last = run.rounds[-1]
        assert last.accuracy is not None
        assert last.replies == NODES
        assert last.down.carrier > last.down.unicast
        assert last.up.carrier > last.up.nbytes
        groups = report.group([run])
        assert "| messages down | on the wire down |" in report.markdown(groups)
        assert "Carried by Flower" in report.page(groups)

    def test_of_another_run_are_kept(self, tmp_path: Path) -> None:
        (tmp_path / "mine.txt").write_text("x")
        with pytest.raises(InputError, match="results of LossyStrategy must be a new folder"):
            play(LossyStrategy(inner(), results=tmp_path), LocalGrid(make_app(), 2, tmp_path), 1)


class TestFaults:
    def test_everything_at_once(self, tmp_path: Path) -> None:
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path, lost=0.1, forgetful=0.1)
        lossy = LossyStrategy(inner(fraction_train=0.4, min_train_nodes=4), "lfl:q1=8,q2=8")
        assert final(play(lossy, grid, 60)) > 0.85

    @pytest.mark.parametrize("spec", ["lossless", "lb", "lfl", "lgm:q1=64", "ltgm:q1=64"])
    def test_a_folder_that_is_lost(self, spec: str, tmp_path: Path) -> None:
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        lossy = LossyStrategy(inner(), spec)
        play(lossy, grid, 3)
        grid.forget(1000)
        replies: list[int] = []
        for number in range(4, 7):
            messages = lossy.configure_train(number, given(lossy), ConfigRecord(), grid)
            lossy.aggregate_train(number, grid.send_and_receive(messages))
            lossy._training.journal.flush(lossy.server)
            replies.append(lossy.rounds[-1].replies)
        assert replies == [NODES - 1, NODES, NODES]

    def test_what_is_left_over_survives_an_evaluation_by_a_stranger(self, tmp_path: Path) -> None:
        """A restarted node is unknown; the server cannot say whether its last reply arrived."""
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        lossy = LossyStrategy(inner())
        play(lossy, grid, 3)
        before = _memory(tmp_path)
        assert before.any()
        del grid.contexts[1000]
        grid.add(4000, 0)
        lossy.inner = inner(fraction_evaluate=1.0)
        messages = lossy.configure_evaluate(3, given(lossy), ConfigRecord(), grid)
        lossy.aggregate_evaluate(3, grid.send_and_receive(messages))
        messages = list(lossy.configure_train(4, given(lossy), ConfigRecord(), grid))
        seen: list[np.ndarray] = []

        def look_at(_: Message, node: int) -> None:
            if node == 4000:
                seen.append(_memory(tmp_path))

        grid.change = look_at
        lossy.aggregate_train(4, grid.send_and_receive(messages))
        assert np.array_equal(_memory(tmp_path), seen[0])
        assert seen[0].any()

    @pytest.mark.parametrize(
        "metrics",
        [
            {"num-examples": 3, "train-loss": 1.0, "more": 2.0},
            {"num-examples": float("nan"), "train-loss": 1.0},
            {"num-examples": -3, "train-loss": 1.0},
            {"num-examples": 3, "train-loss": [1.0, 2.0]},
            {"train-loss": 1.0},
        ],
    )
    @pytest.mark.parametrize("name", ["FedAvg", "FedAdam"])
    def test_odd_metrics_fail_one_reply(
        self, name: str, metrics: dict[str, float], tmp_path: Path
    ) -> None:
        def change(reply: Message, node: int) -> None:
            if node == 1000:
                reply.content["metrics"] = MetricRecord(metrics)

        lossy = LossyStrategy(inner(name))
        play(lossy, LocalGrid(make_app(lossy_mod), NODES, tmp_path, change=change), 2)
        assert lossy.rounds[-1].replies == NODES - 1

    @pytest.mark.parametrize("name", ["FedAvg", "FedAdam"])
    def test_more_arrays_than_the_model_fail_one_reply(self, name: str, tmp_path: Path) -> None:
        def change(reply: Message, node: int) -> None:
            if node == 1000:
                reply.content["mine"] = ArrayRecord({"a": Array(np.zeros(3))})

        lossy = LossyStrategy(inner(name))
        play(lossy, LocalGrid(make_app(lossy_mod), NODES, tmp_path, change=change), 2)
        assert lossy.rounds[-1].replies == NODES - 1

    @pytest.mark.parametrize("data", [b"PK\x03\x04", b"\x93NUMPY\x01\x00" + b"-" * 9000])
    def test_hostile_buffers(self, data: bytes, tmp_path: Path) -> None:
        app = ClientApp(mods=[lossy_mod])

        @app.train()
        def train(message: Message, _: object) -> Message:
            metrics = MetricRecord({"num-examples": 1})
            content = RecordDict({"arrays": message.content["arrays"], "metrics": metrics})
            return Message(content, reply_to=message)

        def change(reply: Message, node: int) -> None:
            if node == 1000:
                reply.content["lossyfl"]["bytes.n"] = data

        model = ArrayRecord(
            {"w": Array(np.zeros(9, np.float32)), "n": Array(np.array([2**60 + 1]))}
        )
        lossy = LossyStrategy(FedAvg(fraction_evaluate=0.0))
        result = lossy.start(LocalGrid(app, 3, tmp_path, change=change), model, 2)
        assert lossy.rounds[-1].replies == 2
        assert result.arrays["n"].numpy().tolist() == [2**60 + 1]


class TestBadInput:
    def test_inside_another_strategy(self, tmp_path: Path) -> None:
        inside = LossyStrategy(inner())
        outer = strategies.DifferentialPrivacyServerSideFixedClipping(inside, 0.0, 1e-6, NODES)
        with pytest.raises(InputError, match=r"the outermost strategy: LossyStrategy\(Other"):
            play(outer, LocalGrid(make_app(lossy_mod), NODES, tmp_path), 1)

    def test_a_mod_without_the_strategy(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        play(inner(), LocalGrid(make_app(lossy_mod), NODES, tmp_path), 1)
        assert "wrap its strategy, LossyStrategy(...)" in caplog.text

    def test_wrapped_twice(self) -> None:
        with pytest.raises(InputError, match="not wrapped yet"):
            LossyStrategy(LossyStrategy(inner()))

    def test_two_optimizers(self) -> None:
        LossyStrategy(FedProx(proximal_mu=0.1), "lfl:server_optimizer=adam")
        with pytest.raises(InputError, match="none with FedAdam, which takes the server's step"):
            LossyStrategy(inner("FedAdam"), "lfl:server_optimizer=adam")

    def test_an_unknown_scheme(self) -> None:
        with pytest.raises(InputError, match="did you mean lfl"):
            LossyStrategy(inner(), "lf")

    def test_a_folder_that_cannot_be_written(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        (tmp_path / "file").write_text("")
        grid = LocalGrid(make_app(LossyMod()), NODES, tmp_path / "file")
        play(LossyStrategy(inner()), grid, 1)
        assert "lossyfl-dir of the node's config" in caplog.text


def _memory(folder: Path) -> np.ndarray:
    """delta_0, as it lies on the disk."""
    (path,) = folder.glob("*/0/current")
    remembered = snapshot.load(path.with_name(path.read_text().split()[0]), Remembered)
    return remembered.device.uplink["memory"]
