"""Strategy and mod together, in one process: Flower's strategies, apps and messages, no network."""

import stat
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp import strategy as strategies
from flwr.serverapp.strategy import FedAvg, FedProx, Result, Strategy
from tests.flower.app import NODES, accuracy, look, make_app, start
from tests.flower.grid import LocalGrid

from lossyfl import report
from lossyfl.adapters.peers import Known
from lossyfl.adapters.remembered import Remembered
from lossyfl.adapters.saved import Kept, Saved
from lossyfl.errors import InputError
from lossyfl.files import snapshot
from lossyfl.flower import LossyMod, LossyStrategy, lossy_mod
from lossyfl.flower.checkpoint import save
from lossyfl.protocol.digests import NOTHING
from lossyfl.results import ledger_file
from lossyfl.results.records import Round, read_rounds

INNER = {
    "FedAvg": {},
    "FedProx": {"proximal_mu": 0.1},
    "FedAvgM": {"server_momentum": 0.5},
    "FedAdam": {"eta": 0.03},
    "FedYogi": {"eta": 0.03},
    "FedAdagrad": {"eta": 0.1},
    "FedMedian": {},
    "FedTrimmedAvg": {},
    "Krum": {"num_malicious_nodes": 1},
    "MultiKrum": {"num_malicious_nodes": 1, "num_nodes_to_select": 6},
    "Bulyan": {"num_malicious_nodes": 1},
    "QFedAvg": {"client_learning_rate": 0.5, "q": 0.1, "train_loss_key": "train-loss"},
}


KEPT = Kept(attribute="m_t", holder="dict", name="w", dtype="<f4", shape=(2,), data=b"\0" * 8)


def inner(name: str = "FedAvg", **more: float) -> Strategy:
    settings = {"fraction_evaluate": 0.0, "min_available_nodes": NODES}
    return getattr(strategies, name)(**settings | INNER[name] | more)


def play(strategy: Strategy, grid: LocalGrid, rounds: int = 20) -> Result:
    return strategy.start(grid, start(), num_rounds=rounds, evaluate_fn=look)


def rounds_of(strategy: LossyStrategy) -> list[Round]:
    return strategy.rounds


def final(result: Result) -> float:
    return accuracy(result.arrays)


@pytest.mark.parametrize("name", INNER)
def test_every_strategy_learns_as_it_does_plain(name: str, tmp_path: Path) -> None:
    rounds = 5 if name in ("Bulyan", "QFedAvg") else 20  # these two take seconds a round, plain too
    plain = final(play(inner(name), LocalGrid(make_app(), NODES, tmp_path), rounds))
    lossy = LossyStrategy(inner(name), "lfl:q1=8,q2=8")
    learned = final(play(lossy, LocalGrid(make_app(lossy_mod), NODES, tmp_path), rounds))
    assert plain > 0.6
    assert learned > plain - 0.05
    assert rounds_of(lossy)[-1].down.nbytes < 4 * 650 / 2


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
    ],
)
def test_every_scheme(spec: str, tmp_path: Path) -> None:
    lossy = LossyStrategy(inner(), spec)
    assert final(play(lossy, LocalGrid(make_app(lossy_mod), NODES, tmp_path))) > 0.8


def test_lossless_is_plain_to_rounding(tmp_path: Path) -> None:
    plain = play(inner(), LocalGrid(make_app(), NODES, tmp_path), 5)
    lossy = play(
        LossyStrategy(inner(), "lossless"), LocalGrid(make_app(lossy_mod), NODES, tmp_path), 5
    )
    np.testing.assert_allclose(
        lossy.arrays["w"].numpy(), plain.arrays["w"].numpy(), rtol=1e-4, atol=1e-5
    )


def test_the_order_of_replies_does_not_matter(tmp_path: Path) -> None:
    def train(seed: int) -> bytes:
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path / str(seed), seed=seed)
        return play(LossyStrategy(inner()), grid, 5).arrays["w"].data

    assert train(1) == train(2)


class TestEvaluation:
    def test_costs_nothing_extra_but_a_last_broadcast(self, tmp_path: Path) -> None:
        """After the last round no training follows that would need it."""
        lossy = LossyStrategy(inner(fraction_evaluate=1.0))
        play(lossy, LocalGrid(make_app(lossy_mod), NODES, tmp_path), 6)
        without = LossyStrategy(inner())
        play(without, LocalGrid(make_app(lossy_mod), NODES, tmp_path), 6)
        *before, last = [r.down.unicast for r in rounds_of(lossy)]
        *plain_before, plain_last = [r.down.unicast for r in rounds_of(without)]
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


class TestBroadcast:
    def test_is_shared_by_all_messages(self, tmp_path: Path) -> None:
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        play(LossyStrategy(inner()), grid, 4)
        assert len({id(message.content) for message in grid.sent[-NODES:]}) == 1

    def test_other_records_pass_untouched(self, tmp_path: Path) -> None:
        seen: list[RecordDict] = []
        app = ClientApp(mods=[lossy_mod])

        @app.train()
        def train(message: Message, _: object) -> Message:
            seen.append(message.content)
            content = RecordDict(
                {
                    "arrays": message.content["arrays"],
                    "metrics": MetricRecord({"num-examples": 3, "mine": [1.0, 2.0]}),
                    "extra": ConfigRecord({"note": "hello"}),
                }
            )
            return Message(content, reply_to=message)

        got: list[RecordDict] = []

        def keep(contents: list[RecordDict], _: str) -> MetricRecord:
            got.extend(contents)
            return MetricRecord()

        fedavg = FedAvg(fraction_evaluate=0.0, train_metrics_aggr_fn=keep)
        LossyStrategy(fedavg).start(
            LocalGrid(app, 2, tmp_path), start(), 1, train_config=ConfigRecord({"lr": 0.5})
        )
        assert {key for content in seen for key in content} == {"arrays", "config"}
        assert seen[0]["config"]["lr"] == 0.5
        assert {key for content in got for key in content} == {"arrays", "metrics", "extra"}
        assert got[0]["metrics"]["mine"] == [1.0, 2.0]

    def test_a_model_that_changed_is_named(self, tmp_path: Path) -> None:
        lossy = LossyStrategy(inner())
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        play(lossy, grid, 1)
        other = ArrayRecord({"w": Array(np.zeros((64, 11), np.float32))})
        with pytest.raises(
            InputError, match=r"array w of the model must be float32 of shape \(64, 10\)"
        ):
            lossy.configure_train(2, other, ConfigRecord(), grid)


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
        assert rounds_of(lossy)[-1].replies == NODES

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


class TestFaults:
    def test_everything_at_once(self, tmp_path: Path) -> None:
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path, lost=0.1, forgetful=0.1)
        lossy = LossyStrategy(inner(fraction_train=0.4, min_train_nodes=4), "lfl:q1=8,q2=8")
        assert final(play(lossy, grid, 60)) > 0.85

    def test_a_node_that_was_away_catches_up(self, tmp_path: Path) -> None:
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        lossy = LossyStrategy(inner())
        play(lossy, grid, 3)
        away = grid.contexts.pop(1000)
        lossy.inner = inner(min_available_nodes=2)
        arrays = lossy.server.theta
        assert len(arrays)
        for number in range(4, 7):
            model = lossy.configure_train(number, _given(lossy), ConfigRecord(), grid)
            lossy.aggregate_train(number, grid.send_and_receive(model))
        grid.contexts[1000] = away
        messages = list(lossy.configure_train(7, _given(lossy), ConfigRecord(), grid))
        sent = {m.metadata.dst_node_id: m.content["lossyfl"]["sizes"] for m in messages}
        assert len(sent[1000]) == 4  # the rounds 4, 5, 6 and 7
        assert len(sent[1007]) == 1
        lossy.aggregate_train(7, grid.send_and_receive(messages))
        lossy._training.journal.flush(lossy.server)
        assert rounds_of(lossy)[-1].replies == NODES

    def test_a_new_node_id_with_the_same_number(self, tmp_path: Path) -> None:
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        lossy = LossyStrategy(inner())
        play(lossy, grid, 3)
        del grid.contexts[1000]
        grid.add(4000, 0)
        messages = lossy.configure_train(4, _given(lossy), ConfigRecord(), grid)
        lossy.aggregate_train(4, grid.send_and_receive(messages))
        lossy._training.journal.flush(lossy.server)
        assert rounds_of(lossy)[-1].replies == NODES
        assert lossy.server.members == tuple(range(NODES))

    def test_two_nodes_with_one_number(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        grid.add(4000, 0)
        lossy = LossyStrategy(inner())
        play(lossy, grid, 2)
        assert rounds_of(lossy)[-1].replies == NODES
        assert "both say that they are device 0: give each its own partition-id" in caplog.text

    @pytest.mark.parametrize(
        ("damage", "reason"),
        [
            (lambda _: b"garbage", "damaged"),
            (lambda frame: frame[:-5], "damaged"),
            (lambda frame: frame[:8] + b"\xff" * 8 + frame[16:], "damaged"),
        ],
    )
    def test_hostile_replies_are_refused_with_their_reason(
        self, damage: object, reason: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        def change(reply: Message, node: int) -> None:
            if node == 1000 and reply.has_content():
                head = reply.content["lossyfl"]
                head["run"] = damage(head["run"])
                head["sizes"] = [len(head["run"])]

        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path, change=change)
        lossy = LossyStrategy(inner(), "lfl:q1=8,q2=8")
        assert final(play(lossy, grid, 10)) > 0.7
        assert rounds_of(lossy)[-1].replies == NODES - 1
        assert f"reply of device 0 is refused as {reason}" in caplog.text

    @pytest.mark.parametrize(
        ("field", "value", "reason"),
        [
            ("number", -1, "number is -1"),
            ("format", "0.0", "install the same lossyfl"),
            ("exact.n", ["int64", "numpy.ndarray", "9999999"], "array n of the reply"),
            ("bytes.n", b"garbage", "array n of the reply"),
            ("sizes", [1 << 60], "is damaged"),
        ],
    )
    def test_hostile_records(
        self,
        field: str,
        value: object,
        reason: str,
        tmp_path: Path,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        app = ClientApp(mods=[lossy_mod])

        @app.train()
        def train(message: Message, _: object) -> Message:
            content = RecordDict(
                {"arrays": message.content["arrays"], "metrics": MetricRecord({"num-examples": 1})}
            )
            return Message(content, reply_to=message)

        def change(reply: Message, node: int) -> None:
            if node == 1000:
                reply.content["lossyfl"][field] = value

        model = ArrayRecord({"w": Array(np.zeros(9, np.float32)), "n": Array(np.array([3]))})
        lossy = LossyStrategy(FedAvg(fraction_evaluate=0.0))
        lossy.start(LocalGrid(app, 3, tmp_path, change=change), model, 2)
        assert lossy.rounds[-1].replies == 2
        assert reason in caplog.text

    @pytest.mark.parametrize("spec", ["lossless", "lb", "lfl", "lgm:q1=64", "ltgm:q1=64"])
    def test_a_folder_that_is_lost(self, spec: str, tmp_path: Path) -> None:
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        lossy = LossyStrategy(inner(), spec)
        play(lossy, grid, 3)
        grid.forget(1000)
        replies: list[int] = []
        for number in range(4, 7):
            messages = lossy.configure_train(number, _given(lossy), ConfigRecord(), grid)
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
        messages = lossy.configure_evaluate(3, _given(lossy), ConfigRecord(), grid)
        lossy.aggregate_evaluate(3, grid.send_and_receive(messages))
        messages = list(lossy.configure_train(4, _given(lossy), ConfigRecord(), grid))
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

    def test_a_round_without_replies(self, tmp_path: Path) -> None:
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path, lost=1.0)
        lossy = LossyStrategy(inner())
        result = play(lossy, grid, 2)
        assert np.array_equal(result.arrays["w"].numpy().ravel(), lossy.server.theta[:640])


class TestBadInput:
    def test_inside_another_strategy(self, tmp_path: Path) -> None:
        inside = LossyStrategy(inner())
        outer = strategies.DifferentialPrivacyServerSideFixedClipping(inside, 0.0, 1e-6, NODES)
        with pytest.raises(InputError, match=r"the outermost strategy: LossyStrategy\(Other"):
            play(outer, LocalGrid(make_app(lossy_mod), NODES, tmp_path), 1)

    def test_an_app_without_the_mod(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        app = ClientApp()

        @app.train()
        def train(message: Message, _: object) -> Message:
            content = RecordDict({"arrays": start(), "metrics": MetricRecord({"num-examples": 1})})
            return Message(content, reply_to=message)

        play(LossyStrategy(inner()), LocalGrid(app, NODES, tmp_path), 1)
        assert "put lossy_mod first into its app, ClientApp(mods=[lossy_mod])" in caplog.text

    def test_an_app_without_the_mod_that_looks_for_the_model(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """As most apps do: the model's record is not there, and the app raises."""
        play(LossyStrategy(inner()), LocalGrid(make_app(), NODES, tmp_path), 1)
        assert "KeyError('arrays') (is lossy_mod in the ClientApp? ClientApp(mods=" in caplog.text

    def test_an_app_that_raises_with_the_mod(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)
        lossy = LossyStrategy(inner())
        play(lossy, grid, 1)
        grid.app = make_app(_raising, lossy_mod)
        messages = lossy.configure_train(2, _given(lossy), ConfigRecord(), grid)
        lossy.aggregate_train(2, grid.send_and_receive(messages))
        assert "ZeroDivisionError('mine')" in caplog.text
        assert "is lossy_mod in the ClientApp" not in caplog.text

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


def _raising(*_: object) -> Message:
    raise ZeroDivisionError("mine")


def _memory(folder: Path) -> np.ndarray:
    """delta_0, as it lies on the disk."""
    (path,) = folder.glob("*/0/current")
    remembered = snapshot.load(path.with_name(path.read_text().split()[0]), Remembered)
    return remembered.device.uplink["memory"]


def _given(lossy: LossyStrategy) -> ArrayRecord:
    given = lossy._training.given
    assert given is not None
    return given


def test_a_model_that_its_own_dtype_cannot_hold_is_not_adopted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    class Huge(FedAvg):
        def aggregate_train(
            self, server_round: int, replies: Iterable[Message]
        ) -> tuple[ArrayRecord | None, MetricRecord | None]:
            _, metrics = super().aggregate_train(server_round, replies)
            return ArrayRecord({"w": Array(np.full(4, 7e4, np.float32))}), metrics

    app = ClientApp(mods=[lossy_mod])

    @app.train()
    def train(message: Message, _: Context) -> Message:
        metrics = MetricRecord({"num-examples": 1})
        content = RecordDict({"arrays": message.content["arrays"], "metrics": metrics})
        return Message(content, reply_to=message)

    inner = Huge(fraction_evaluate=0.0, min_available_nodes=2)
    model = ArrayRecord({"w": Array(np.ones(4, np.float16))})
    result = LossyStrategy(inner).start(LocalGrid(app, 2, tmp_path), model, num_rounds=1)
    assert result.arrays["w"].numpy().tolist() == [1, 1, 1, 1]
    assert "Huge made NaN or infinity; the model stays" in caplog.text
