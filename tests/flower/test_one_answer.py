"""Whatever one node answers, that answer is refused, and the others' training goes on."""

from pathlib import Path

import numpy as np
import pytest
from flwr.app import (
    Array,
    ArrayRecord,
    Error,
    Message,
)
from tests.flower.answers import (
    HOSTILE,
    MIXED,
    OTHER,
    adding_app,
    assert_one_is_refused,
    head,
    of,
    train,
)
from tests.flower.app import NODES, make_app
from tests.flower.grid import LocalGrid

from lossyfl.adapters.peers import made_of
from lossyfl.errors import InputError
from lossyfl.flower import LossyStrategy, lossy_mod, replies
from lossyfl.wire import frame as frames
from lossyfl.wire.header import FrameMeta, Kind


@pytest.mark.parametrize("name", ["FedAvg", "FedMedian", "Krum", "FedAdam"])
@pytest.mark.parametrize("dtype", ["garbage", "O", "U99999999", "int64"])
def test_an_array_that_the_model_does_not_have(name: str, dtype: str, tmp_path: Path) -> None:
    def change(reply: Message) -> None:
        head(reply)["exact.more"] = [dtype, "numpy.ndarray", "1"]
        head(reply)["bytes.more"] = b"x" * 8

    assert_one_is_refused(train(tmp_path, of(HOSTILE, change), name), unreadable=2)


@pytest.mark.parametrize(("entries", "reason"), [(3, "foreign"), (3000, "oversized")])
@pytest.mark.parametrize("name", ["FedAvg", "FedMedian"])
def test_a_reply_of_another_length_to_a_model_of_float16(
    name: str, entries: int, reason: str, tmp_path: Path
) -> None:
    def change(reply: Message) -> None:
        frame = frames.pack_raw(np.zeros(entries, np.float32), FrameMeta(kind=Kind.REPLY))
        head(reply)["run"], head(reply)["sizes"] = frame, [len(frame)]

    model = ArrayRecord({"w": Array(np.zeros((64, 10), np.float16))})
    made = train(tmp_path, of(HOSTILE, change), name, model=model, app=adding_app())
    assert_one_is_refused(made, **{reason: 2})


def test_the_number_that_is_made_of_another_nodes_id(tmp_path: Path) -> None:
    def change(reply: Message) -> None:
        head(reply)["number"] = made_of(OTHER)

    assert_one_is_refused(train(tmp_path, of(HOSTILE, change)), foreign=2)


def test_another_number_than_it_was_called_by_once_that_has_a_new_node(tmp_path: Path) -> None:
    """A node misses a round, a new one takes over its number, and it answers with a third one."""
    grid = LocalGrid(make_app(lossy_mod), NODES, tmp_path)

    def change(reply: Message, node: int) -> None:
        if len(grid.sent) <= NODES:
            return
        if node == HOSTILE and len(grid.sent) > 2 * NODES:
            head(reply)["number"] = 77
        elif node == HOSTILE:  # it misses the second round, and a new node comes with its number
            reply.content.pop("lossyfl")
            grid.add(999, 0)

    made = train(tmp_path, change, grid=grid, rounds=4)
    assert [each.replies for each in made.rounds][:2] == [NODES, NODES - 1]
    assert made.rounds[-1].replies >= NODES


def test_a_number_named_as_a_list_of_numbers(tmp_path: Path) -> None:
    def change(reply: Message, node: int) -> None:
        metrics = reply.content["metrics"]
        if node == HOSTILE:
            metrics["per-class[2]"] = 0.5
        else:
            metrics["per-class"] = [0.1, 0.2]

    assert_one_is_refused(train(tmp_path, change), unreadable=2)


@pytest.mark.parametrize("weight", [5e-324, 1e-310, 1e-300])
def test_a_weight_of_next_to_nothing(weight: float, tmp_path: Path) -> None:
    def change(reply: Message, node: int) -> None:
        reply.content["metrics"]["num-examples"] = weight if node == HOSTILE else 12.5

    assert_one_is_refused(train(tmp_path, change), unreadable=2)


def test_fractions_that_need_no_cap_have_none(tmp_path: Path) -> None:
    def change(reply: Message, node: int) -> None:
        reply.content["metrics"]["num-examples"] = node / 700

    assert not train(tmp_path, change).server.ledger.refusals.counts


@pytest.mark.parametrize(
    "array",
    [
        np.ones(2, np.complex64),
        np.ones(2, np.longdouble),
        np.array(["text"]),
        np.array(["2020-01-01"], "M8[D]"),
        np.ones(2, ">f4"),
    ],
    ids=lambda array: array.dtype.name,
)
def test_a_model_of_which_nobody_can_bound_the_mean_is_refused(
    array: np.ndarray, tmp_path: Path
) -> None:
    model = ArrayRecord({"w": Array(np.zeros(9, np.float32)), "odd": Array(array)})
    with pytest.raises(InputError, match="dtype of odd of a model must be one of float16, "):
        train(tmp_path, lambda *_: None, model=model)


def test_refusals_of_ours_say_what_they_said() -> None:
    error = replies.Foreign("as it was")
    assert replies.refusal_of(error, 7) is error


@pytest.mark.parametrize("loss", [-1.0, -1e-3, float("nan"), float("inf"), -(10**9)])
def test_a_loss_of_which_no_power_is_a_number(loss: float, tmp_path: Path) -> None:
    """QFedAvg weighs by powers of losses; NaN would keep the old model, in every round."""

    def change(reply: Message) -> None:
        reply.content["metrics"]["train-loss"] = loss

    settings = {"client_learning_rate": 0.5, "q": 0.1, "train_loss_key": "train-loss"}
    made = train(tmp_path, of(HOSTILE, change), "QFedAvg", settings=settings)
    assert_one_is_refused(made, unreadable=2)
    assert "QFedAvg" in made.server.ledger.refusals.recent[-1].detail


@pytest.mark.parametrize("loss", [0.0, 1e30])
def test_a_loss_that_would_outweigh_all_others(loss: float, tmp_path: Path) -> None:
    """QFedAvg stands still with 0, and follows the largest; held near the median, neither."""

    def change(reply: Message) -> None:
        reply.content["metrics"]["train-loss"] = loss

    settings = {"client_learning_rate": 0.5, "q": 0.5, "train_loss_key": "train-loss"}
    honest = train(tmp_path / "a", lambda *_: None, "QFedAvg", settings=settings)
    made = train(tmp_path / "b", of(HOSTILE, change), "QFedAvg", settings=settings)
    assert dict(made.server.ledger.refusals.counts) == {"capped": 2}
    moved = np.linalg.norm(honest.server.theta)
    assert np.linalg.norm(made.server.theta - honest.server.theta) < moved / 2


NASTY = "\x1b]0;X\x07\nINFO : forged line\u2028" + "x" * 10**6


class TestWordsOfOthers:
    """One line, not long, nothing that moves a cursor: in the log, in the ledger, and in what Flower logs."""

    def check(self, made: LossyStrategy, caplog: pytest.LogCaptureFixture) -> None:
        said = [record.getMessage() for record in caplog.records]
        assert "forged line" in caplog.text
        assert max(map(len, said)) < 3000
        assert not any("\x1b" in each or "\nINFO" in each or "\u2028" in each for each in said)
        for noted in made.server.ledger.refusals.recent:
            assert noted.detail.isprintable()
            assert len(noted.detail) < 500

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("exact.n", [NASTY, "numpy.ndarray", "1"]),
            (f"exact.{NASTY}", ["int64", "numpy.ndarray", "1"]),
            ("problem", NASTY),
            ("format", NASTY),
            ("digest", NASTY),
            ("number", NASTY),
        ],
    )
    def test_in_a_reply(
        self, field: str, value: object, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        def change(reply: Message) -> None:
            head(reply)[field] = value
            if field.startswith("exact"):
                head(reply)[field.replace("exact", "bytes", 1)] = b"x"

        made = train(tmp_path, of(HOSTILE, change), model=MIXED, app=adding_app(), rounds=1)
        self.check(made, caplog)

    @pytest.mark.parametrize("name", ["FedAvg", "FedMedian"])
    def test_in_the_names_of_metrics_and_records(
        self, name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        def change(reply: Message) -> None:
            reply.content["metrics"][NASTY] = 1.0

        self.check(train(tmp_path, of(HOSTILE, change), name, rounds=1), caplog)

    def test_in_an_error(self, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
        def change(reply: Message, node: int) -> None:
            if node == HOSTILE:
                reply.__dict__.update({"_content": None, "_error": Error(2, NASTY)})

        self.check(train(tmp_path, change, rounds=1), caplog)
