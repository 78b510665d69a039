"""What reads Flower's messages, and what nodes and strategy have saved.

A message is written as JSON here: records by name, their fields, and bytes as "hex:...".
"""

import json
import logging
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from flwr.app import Array as FlowerArray
from flwr.app import ArrayRecord, ConfigRecord, Context, Message, RecordDict
from flwr.serverapp.strategy import FedAdam
from flwr.supercore.task_identity import TaskIdentity
from tests.fuzz.file_targets import (
    results_folder,
    saved_bytes,
    scratch,
    states,
    whole_file,
    with_digest,
)
from tests.fuzz.guided import Target
from tests.fuzz.mutate import BEHIND, HEADED, PLAIN, TEXT

import lossyfl
from lossyfl.adapters.arrays import Array
from lossyfl.adapters.envelope import Down, Up, pack_down, pack_up, unpack_up
from lossyfl.adapters.journal import Journal
from lossyfl.adapters.layout import Layout, Slot, layout_of
from lossyfl.adapters.packets import from_packet, to_packet
from lossyfl.adapters.peers import Known
from lossyfl.adapters.records import Records, pack_frames
from lossyfl.adapters.remembered import Remembered
from lossyfl.adapters.saved import Kept, Saved
from lossyfl.adapters.store import Store
from lossyfl.flower import LossyStrategy
from lossyfl.flower.mod import LossyMod
from lossyfl.flower.records import take_records

TRAINING = "0123456789abcdef"
NUMBER = Array("int64", (), "numpy.ndarray", bytes(8))
LAYOUT = Layout(
    slots=(
        Slot(name="w", dtype="float32", shape=(9, 7)),
        Slot(name="n", dtype="int64", shape=()),
        Slot(name="b", dtype="float32", shape=(1,)),
    )
).text()


def to_text(records: Records) -> bytes:
    """Records as JSON."""

    def plain(value: object) -> object:
        return f"hex:{value.hex()}" if isinstance(value, bytes) else value

    facts = {name: {k: plain(v) for k, v in own.items()} for name, own in records.items()}
    return json.dumps(facts).encode()


def read_value(value: Any) -> Any:  # noqa: ANN401
    """A value of JSON, bytes where it says so."""
    is_hex = isinstance(value, str) and value.startswith("hex:")
    return bytes.fromhex(value[4:]) if is_hex else value


@contextmanager
def quiet() -> Generator[None]:
    """No word of Flower's about every message; then it speaks as before."""
    logger = logging.getLogger("flwr")
    before = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(before)


def to_records(data: bytes) -> RecordDict | None:
    """The records of JSON; None where Flower itself would not carry them."""

    try:
        facts = json.loads(data)
        return RecordDict(
            {
                name: ConfigRecord({k: read_value(v) for k, v in own.items()})
                for name, own in facts.items()
            }
        )
    except (ValueError, TypeError, AttributeError, RecursionError):
        return None


def reply_from_node(data: bytes) -> None:
    """What a server makes of a node's records."""
    content = to_records(data)
    if content is not None:
        unpack_up(take_records(content))


def packet_from_device(data: bytes) -> None:
    """What a server makes of bytes, where a framework carries nothing else."""
    unpack_up(from_packet(data))


def _ups() -> Sequence[Up]:
    held, exact = states()[0].held, {"n": NUMBER}
    return (
        Up(number=1, held=held, reply=states()[2].reply, exact=exact, training=1.0, coding=0.1),
        Up(number=1, held=held, problem="none"),
        Up(number=1, held=held, reply=bytes(20_000)),
    )


def _up_seeds() -> Sequence[bytes]:
    return [to_text(pack_up(up)) for up in _ups()]


def _packet_seeds() -> Sequence[bytes]:
    return [to_packet(pack_up(up)) for up in _ups()]


@cache
def _context() -> Context:
    TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 1, 1
    config: dict[str, str | int | float | bool] = {
        "lossyfl-dir": str(scratch() / "node"), "partition-id": 1,
    }  # fmt: skip
    return Context(run_id=1, node_id=7, node_config=config, state=RecordDict(), run_config={})


@quiet()
def message_to_node(data: bytes) -> None:
    """What a node answers to a server's records: the mod raises nothing."""
    content = to_records(data)
    if content is None:
        return
    context = _context()  # it says who this process is, which Flower asks for
    message = Message(content=content, dst_node_id=7, message_type="train")
    LossyMod()(message, context, _echo)


def _echo(message: Message, context: Context) -> Message:
    """An app that returns the model as it is."""
    del context
    return Message(RecordDict(dict(message.content)), reply_to=message)


def _down_seeds() -> Sequence[bytes]:
    server = states()[0]
    model = server.frames_for(0, lossyfl.EstimateVersion(round=-1, digest=0)).frames
    exact = {"n": NUMBER}
    whole = Down(
        training=TRAINING, scheme="lfl", seed=1, held=server.held, key="arrays", accepted=-1,
        frames=model, layout=LAYOUT, exact=exact,
    )  # fmt: skip
    update = replace(whole, frames=(server.broadcast,), layout="")
    downs = (whole, update, replace(whole, frames=(), layout="", accepted=0, exact={}))
    return [to_text(pack_down(down) | pack_frames(down.frames)) for down in downs]


# What was saved


@cache
def _store() -> tuple[Store, dict[str, bytes]]:
    """A node's store, and the files that it keeps."""
    kept = Remembered(
        scheme="lfl", layout=LAYOUT, names=("n",), dtypes=("int64",), stypes=("numpy.ndarray",),
        shapes=("",), arrays=(bytes(8),), device=states()[2],
    )  # fmt: skip
    store = Store(scratch() / "store", TRAINING, 1)
    with store.locked():
        store.save(kept)
        store.save(kept)
    return store, {path.name: path.read_bytes() for path in sorted(store.folder.iterdir())}


@quiet()
def read_remembered(data: bytes) -> None:
    """A node's store: whatever one of its files holds, the node begins anew at the worst."""
    store, whole = _store()
    name = list(whole)[data[0] % len(whole) if data else 0]
    (store.folder / name).write_bytes(data[1:])
    try:
        store.load("lfl")
    finally:
        (store.folder / name).write_bytes(whole[name])


def _remembered_seeds() -> Sequence[bytes]:
    return [bytes([number]) + data for number, data in enumerate(_store()[1].values())]


def mend_remembered(data: bytes) -> bytes:
    """The digest, if it is a snapshot."""
    return data[:1] + with_digest(data[1:])


@quiet()
def read_saved(data: bytes) -> None:
    """A strategy's checkpoint, and a strategy that goes on from it."""
    path = scratch() / "strategy.safetensors"
    path.write_bytes(data)
    strategy = LossyStrategy(FedAdam(), "lfl", save_to=path, threads=1)
    strategy._first(_model())


def _model() -> ArrayRecord:
    arrays = {"w": np.zeros((9, 7), np.float32), "n": np.array(1), "b": np.zeros(1, np.float32)}
    return ArrayRecord({name: FlowerArray(own) for name, own in arrays.items()})


def _saved_seeds() -> Sequence[bytes]:
    moments = Kept(attribute="m_t", holder="dict", name="w", dtype="<f4", shape=(2,), data=bytes(8))
    rate = Kept(attribute="eta", holder="number", name="", dtype="<f8", shape=(), data=bytes(8))
    count = Kept(attribute="exact", holder="dict", name="n", dtype="<i8", shape=(), data=bytes(8))
    saved = Saved(
        rounds=2, training=TRAINING, scheme="lfl", layout=layout_of(_model()).text(),
        server=states()[1], nodes=(Known(node=7, number=1, held=states()[0].held),),
        inner=(moments, rate), exact=(count,),
    )  # fmt: skip
    return [saved_bytes(saved)]


def go_on(data: bytes) -> None:
    """A journal that goes on in the folder of an earlier run."""
    folder = results_folder()
    path = folder / "rounds.jsonl"
    whole = whole_file("rounds.jsonl")
    path.write_bytes(data)
    journal = Journal(folder)
    try:
        journal.begin("lfl", 3, 0, done=2)
    finally:
        journal._lock.close()
        path.write_bytes(whole)


TARGETS = (
    Target(name="flower-up", run=reply_from_node, seeds=_up_seeds, how=TEXT),
    Target(name="packet", run=packet_from_device, seeds=_packet_seeds, how=HEADED),
    Target(name="flower-down", run=message_to_node, seeds=_down_seeds, how=TEXT),
    Target(
        name="flower-store",
        run=read_remembered,
        seeds=_remembered_seeds,
        how=(*BEHIND, *PLAIN),
        mend=mend_remembered,
    ),
    Target(name="flower-saved", run=read_saved, seeds=_saved_seeds, how=HEADED, mend=with_digest),
    Target(name="journal", run=go_on, seeds=lambda: [whole_file("rounds.jsonl")], how=TEXT),
)
