"""Flower's records <-> ours: nothing is copied that is not ours, and nothing of ours stays behind."""

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord, ConfigRecord, Message, MetricRecord, RecordDict
from flwr.supercore.task_identity import TaskIdentity
from tests.adapters.small import MODEL

from lossyfl.adapters.envelope import Up, pack_up, unpack_up
from lossyfl.adapters.records import PIECE, RECORD, Foreign
from lossyfl.flower.records import from_record, size_of, take_records, to_configs, to_record
from lossyfl.protocol.digests import NOTHING

UP = Up(number=4, held=NOTHING, reply=b"x" * (PIECE + 1))
RAW = ArrayRecord({"run": Array(np.zeros(2))})


def test_a_model_there_and_back() -> None:
    record = to_record(MODEL)
    assert from_record(record) == MODEL
    assert record["w"].data is MODEL["w"].data


def test_flower_saves_arrays_as_we_do() -> None:
    """So a model of ours is the same bytes as one that a Flower app makes."""
    for own in MODEL.values():
        if own.dtype != "bfloat16":
            assert Array(own.numpy()).data == own.data


def test_our_records_are_taken_and_others_stay() -> None:
    content = RecordDict({"config": ConfigRecord({"lr": 0.1}), **to_configs(pack_up(UP))})
    assert all(record.count_bytes() for record in content.values())
    assert unpack_up(take_records(content)) == UP
    assert list(content) == ["config"]
    assert take_records(content) == {}


@pytest.mark.parametrize("record", [MetricRecord({"run": 1}), ConfigRecord({"run": "x"}), RAW])
@pytest.mark.parametrize("name", [RECORD, f"{RECORD}.0"])
def test_another_kind_of_record_is_foreign(name: str, record: ConfigRecord) -> None:
    content = RecordDict({**to_configs(pack_up(UP))})
    content[name] = record
    with pytest.raises(Foreign):
        unpack_up(take_records(content))


def test_the_size_of_a_message_is_flowers() -> None:
    content = RecordDict({"a": RAW, "m": MetricRecord({"loss": 1.0})})
    TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 1, 1
    message = Message(content, dst_node_id=1, message_type="train")
    assert size_of(message) == sum(record.count_bytes() for record in content.values())
    content["odd"] = ConfigRecord({"empty": []})  # Flower cannot count it
    assert size_of(message) >= sum(record.count_bytes() for record in (content["a"], content["m"]))
