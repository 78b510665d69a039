"""What version 0.1.0 has written and sent, before this room was one: it still opens, to the byte."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lossyfl.adapters.envelope import pack_down, pack_up, unpack_down, unpack_up
from lossyfl.adapters.layout import read_layout
from lossyfl.adapters.models import unflatten
from lossyfl.adapters.records import FORMAT, RECORD, pack_frames
from lossyfl.adapters.saved import Saved
from lossyfl.adapters.store import Store
from lossyfl.protocol.schemes import scheme
from lossyfl.protocol.server import Server

STORED = Path(__file__).parents[1] / "stored/adapters"
TRAINING = "0123456789abcdef"
SPEC = "lfl:q1=8,q2=8,scale=tensor"
NAMES = ["w", "b", "bn.running_var", "n", "brain", "bb.running_mean"]


def read_value(value: Any) -> Any:  # noqa: ANN401
    is_hex = isinstance(value, str) and value.startswith("hex:")
    return bytes.fromhex(value[4:]) if is_hex else value


MESSAGES = [json.loads(line) for line in (STORED / "messages.json").read_text().splitlines()]


def records_of(message: dict[str, Any]) -> dict[str, dict[str, Any]]:
    named = message["records"].items()
    return {name: {key: read_value(own) for key, own in fields.items()} for name, fields in named}


@pytest.mark.parametrize("number", range(3))
def test_the_store_of_a_device_opens(number: int, tmp_path: Path) -> None:
    shutil.copytree(STORED / "devices" / str(number), tmp_path / TRAINING / str(number))
    store = Store(tmp_path, TRAINING, number)
    with store.locked():
        found = store.load(SPEC)
    layout = read_layout(found.layout)
    assert [slot.name for slot in layout.slots] == NAMES
    assert (found.device.round, found.device.replied) == (1, 1)
    model = unflatten(found.device.estimate, found.exact, layout)
    assert model["n"].numpy() == 5
    assert model["bn.running_var"].numpy().tolist() == [1, 1, 1]


def test_the_checkpoint_of_a_training_opens() -> None:
    saved, exact = Saved.read(STORED / "checkpoint")
    assert (saved.rounds, saved.training, saved.scheme) == (2, TRAINING, SPEC)
    assert sorted(own.number for own in saved.nodes) == [0, 1, 2]
    assert {kept.attribute for kept in saved.inner} >= {"m_t", "v_t", "eta"}
    assert exact["bb.running_mean"].dtype == "bfloat16"
    layout = read_layout(saved.layout)
    server = Server(np.zeros(658, np.float32), scheme(SPEC), samples={}, tensors=layout.tensors)
    server.restore(saved.server)
    assert server.round == 1


def test_messages_of_this_format_are_the_same_bytes() -> None:
    assert FORMAT == "1.6", "messages of another format need a recording of their own"
    assert len(MESSAGES) == 12
    for message in MESSAGES:
        records = records_of(message)
        if message["way"] == "down":
            down = unpack_down(records)
            assert down is not None
            again = pack_down(down) | pack_frames(down.frames)
        else:
            up = unpack_up(records)
            assert up is not None
            again = pack_up(up)
        again[RECORD]["lossyfl"] = "0.1.0"  # of whoever packs it
        assert again == records
        assert list(again[RECORD]) == list(records[RECORD])
