"""What a node does with the messages of a server that means no good."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp
from flwr.serverapp.strategy import FedAvg
from tests.flower.app import make_app, start
from tests.flower.grid import LocalGrid
from tests.outsiders import NAME, SPEC, plant

from lossyfl.flower import LossyMod, LossyStrategy, lossy_mod
from lossyfl.protocol.digests import digest
from lossyfl.wire import frame as frames
from lossyfl.wire.header import FrameMeta, Kind

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


def ask(change: Callable[[Message], None], folder: Path, app: ClientApp | None = None) -> Message:
    """What a node answers to the first message of a server, changed."""
    app = app or make_app(lossy_mod)
    asked = LocalGrid(app, 1, folder)
    lossy = LossyStrategy(FedAvg(fraction_evaluate=0.0, min_train_nodes=1, min_available_nodes=1))
    lossy._started = True
    model = ArrayRecord({**start(), "n": Array(np.array([3]))})
    (message,) = lossy.configure_train(1, model, ConfigRecord(), asked)
    message.metadata.__dict__["_message_id"] = "1"
    change(message)
    return app(message, asked.contexts[1000])


HUGE_AND_EMPTY = json.dumps(
    [["w", "float32", [650]], ["n", "int64", [1]], ["z", "float32", [1 << 40, 1 << 40, 0]]]
)


def set_field(name: str, value: object) -> Callable[[Message], None]:
    def change(message: Message) -> None:
        message.content["lossyfl"][name] = value

    return change


def remove_exact(message: Message) -> None:
    del message.content["lossyfl"]["exact.n"]


def without_model(message: Message) -> None:
    """A layout of floats, and no frame that would make them."""
    record = message.content["lossyfl"]
    record["layout"] = '[["w", "float32", [4]]]'
    for name in ("exact.n", "bytes.n", "sizes", "run"):
        del record[name]


class TestHostileMessage:
    @pytest.mark.parametrize(
        "change",
        [
            remove_exact,
            without_model,
            set_field("exact.n", ["int64", "numpy.ndarray", "999999999999"]),
            set_field("bytes.n", b"PK"),
            set_field("layout", "[[[["),
            set_field("layout", '[["w", "float32", [1]], ["n", "int64", [1]]]'),
            set_field("layout", '[["w", "float32", [549755813888]], ["n", "int64", [1]]]'),
            set_field("layout", '[["w", "float32", [0]], ["n", "int64", [1]]]'),
            set_field("layout", HUGE_AND_EMPTY),
            set_field("layout", "[]"),
            set_field("round", 7),
            set_field("digest", "0" * 16),
            set_field("seed", -1),
            set_field("scheme", "lfl:q1=99999999999999999999"),
            set_field("scheme", "lfl(" * 200 + ")" * 200),
            set_field("sizes", [1 << 62]),
            set_field("format", 3),
        ],
    )
    def test_is_answered_without_training(
        self, change: Callable[[Message], None], tmp_path: Path
    ) -> None:
        reply = ask(change, tmp_path)
        if reply.has_error():
            assert reply.error.reason.startswith("lossyfl: ")
            assert len(reply.error.reason) < 3000
        else:
            assert reply.content["lossyfl"]["problem"]
        assert ask(lambda _: None, tmp_path).has_content()  # and the node works on


class TestNarrowModel:
    """Floats of the protocol are 32 bits wide; those of the app need not be."""

    @pytest.mark.parametrize(
        ("dtype", "value"), [("float16", 1e30), ("float16", -65520.0), ("bfloat16", 3.4028e38)]
    )
    def test_beyond_its_floats_is_not_given_to_the_app(
        self, dtype: str, value: float, tmp_path: Path
    ) -> None:
        reply = ask(narrow(dtype, value), tmp_path, echo())
        assert f"beyond {dtype}" in reply.content["lossyfl"]["problem"]

    @pytest.mark.parametrize(
        ("dtype", "value"), [("float16", 65519.0), ("bfloat16", 3.38e38), ("float64", 3.4e38)]
    )
    def test_within_its_floats(self, dtype: str, value: float, tmp_path: Path) -> None:
        assert "problem" not in ask(narrow(dtype, value), tmp_path, echo()).content["lossyfl"]


def narrow(dtype: str, value: float) -> Callable[[Message], None]:
    """A model of one array of this dtype, with one large entry."""

    def change(message: Message) -> None:
        model = np.array([0, value, 1], np.float32)
        meta = FrameMeta(kind=Kind.MODEL, round=0, digest=digest(model))
        frame = frames.pack_raw(model, meta)
        record = message.content["lossyfl"]
        for name in ("exact.n", "bytes.n"):
            del record[name]
        record["layout"] = f'[["w", "{dtype}", [3]]]'
        record["run"], record["sizes"] = frame, [len(frame)]
        record["digest"] = f"{digest(model):016x}"

    return change


def echo() -> ClientApp:
    """An app that returns the model as it is."""
    app = ClientApp(mods=[lossy_mod])

    @app.train()
    def train(message: Message, _: Context) -> Message:
        return Message(RecordDict({"arrays": message.content["arrays"]}), reply_to=message)

    return app


def test_words_of_a_server_are_one_line_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    nasty = "\x1b]0;X\x07\nINFO : forged line" + "x" * 10**5
    layout = json.dumps([["w", "float32", [650]], ["n", "int64", [1]], [nasty, "int64", [1]]])
    for change in (
        set_field("layout", layout),
        set_field("scheme", nasty[:500]),
        set_field("format", nasty),
        set_field("training", nasty),
    ):
        reply = ask(change, tmp_path)
        text = reply.error.reason if reply.has_error() else reply.content["lossyfl"]["problem"]
        assert "forged line" in text
        assert text.isprintable()
    said = [record.getMessage() for record in caplog.records if "forged" in record.getMessage()]
    assert len(said) == 4
    assert all(each.isprintable() and len(each) < 3000 for each in said)
