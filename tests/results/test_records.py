"""The records of rounds: written as lines, read back, and refused where no run can have written them."""

import gzip
import json
import math
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
from tests.report.synthetic import record

from lossyfl import Device, InputError, Server, scheme
from lossyfl.results.records import Round, downlink, packed, read_rounds, traffic

ONE = record(1)


def written(folder: Path, text: str) -> Path:
    path = folder / "rounds.jsonl"
    path.write_text(text)
    return path


def test_what_is_written_is_read(tmp_path: Path) -> None:
    copies = replace(ONE, copies=ONE.down, metrics={}, test_loss=None)
    path = written(tmp_path, record(0).line() + ONE.line() + copies.line())
    assert read_rounds(path) == [record(0), ONE, copies]
    assert read_rounds(tmp_path / "none.jsonl") == []


def test_rounds_of_versions_that_knew_only_the_accuracy_are_read(tmp_path: Path) -> None:
    def before(each: Round) -> str:
        facts = asdict(each)
        accuracy = facts.pop("metrics").get("accuracy")
        return json.dumps({"round": facts.pop("round"), "accuracy": accuracy} | facts) + "\n"

    rounds = [record(0), record(1, accuracy=None)]
    path = written(tmp_path, "".join(map(before, rounds)))
    assert '"metrics"' not in path.read_text()
    assert read_rounds(path) == rounds
    stored = Path(__file__).parents[2] / "docs" / "results" / "fig1a-small" / "lfl-0"
    kept = read_rounds(stored / "rounds.jsonl")
    assert kept[-1].accuracy == kept[-1].metrics["accuracy"] > 0.5


def test_metrics_may_be_nan_but_must_have_names(tmp_path: Path) -> None:
    (read,) = read_rounds(written(tmp_path, replace(ONE, metrics={"MSE": float("nan")}).line()))
    assert math.isnan(read.metrics["MSE"])
    for wrong in ('{"\\u001b": 1}', '{"": 1}', '{"a": "b"}', "[1]", '"accuracy"', "null"):
        line = ONE.line().replace(json.dumps(ONE.metrics), wrong)
        assert line != ONE.line()
        with pytest.raises(InputError, match="must be a round"):
            read_rounds(written(tmp_path, line))


def test_half_a_line_is_not_read(tmp_path: Path) -> None:
    assert read_rounds(written(tmp_path, record(0).line() + ONE.line()[:-20])) == [record(0)]


def test_a_packed_file_is_read_where_the_plain_one_is_gone(tmp_path: Path) -> None:
    path = written(tmp_path, record(0).line() + ONE.line())
    packed(path).write_bytes(gzip.compress(path.read_bytes()))
    path.write_text(record(0).line())
    assert read_rounds(path) == [record(0)]
    path.unlink()
    assert read_rounds(path) == [record(0), ONE]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no", r"content of .*rounds\.jsonl\.gz must be whole gz data"),
        (gzip.compress(b"\xff"), r"content of rounds\.jsonl\.gz must be UTF-8"),
        (gzip.compress(b"{}\n"), r"content of line 1 of rounds\.jsonl must be a round"),
    ],
    ids=["no gzip", "no text", "no round"],
)
def test_a_packed_file_that_is_damaged_says_so(
    content: bytes, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "rounds.jsonl"
    packed(path).write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_rounds(path)


def test_records_of_older_versions_lack_what_was_not_measured(tmp_path: Path) -> None:
    older = asdict(ONE)
    for name in ("model_peak", "broadcast", "reply", "memory", "copies"):
        del older[name]
    (read,) = read_rounds(written(tmp_path, json.dumps(older) + "\n"))
    assert read == replace(ONE, model_peak=None, broadcast=None, reply=None, memory=None)


@pytest.mark.parametrize(
    "changed",
    [
        {},
        {**asdict(ONE), "unknown": 1},
        {**asdict(ONE), "replies": -1},
        {**asdict(ONE), "replies": True},
        {**asdict(ONE), "down": {"nbytes": 1 << 63}},
        {**asdict(ONE), "seconds": {**asdict(ONE.seconds), "total": float("nan")}},
    ],
    ids=["empty", "unknown", "negative", "bool", "too large", "not a number"],
)
def test_what_no_run_has_written(changed: dict[str, object], tmp_path: Path) -> None:
    path = written(tmp_path, ONE.line() + json.dumps(changed) + "\n")
    with pytest.raises(InputError, match=r"content of line 2 of rounds\.jsonl must be a round"):
        read_rounds(path)


def test_the_downlink_as_it_was_sent() -> None:
    assert ONE.handed is ONE.down
    assert replace(ONE, copies=ONE.up).handed is ONE.up


def test_traffic_is_the_ledgers() -> None:
    """Two devices, two rounds: the initial model and an update are broadcast once, each heard twice."""
    theta = np.linspace(0, 1, 100, dtype=np.float32)
    chosen = scheme("lfl:q1=2,q2=2")
    server = Server(theta, chosen, samples={0: 1, 1: 1}, seed=0)
    devices = {m: Device(m, chosen, seed=0) for m in (0, 1)}
    for _ in range(2):
        server.open_round()
        for m, device in devices.items():
            held = device.receive(server.frames_for(m, device.held))
            server.accept(m, device.reply(held + theta))
        server.close_round()
    down, up = traffic(server.ledger)
    assert down.nbytes == server.ledger.total("down").nbytes == down.initial + down.update
    assert down.unicast == 2 * down.nbytes
    assert down.raw == 4 * down.entries == 2 * 400
    assert up.nbytes == up.reply == server.ledger.total("up").nbytes
    assert up.raw == 4 * up.entries == 4 * 400
    assert downlink(server.ledger, "unicast").nbytes == down.unicast
