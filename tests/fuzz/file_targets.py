"""What reads files: tensors, bundles, saved states, results directories, data sets.

Files are written to memory where the machine has a disk for that, and read as anybody would.
"""

import atexit
import contextlib
import gzip
import lzma
import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.guided import Target
from tests.fuzz.mutate import HEADED, PLAIN, TEXT
from tests.fuzz.wire_targets import ENTRIES, frame_seeds
from tests.helpers import laplace

import lossyfl
from lossyfl import Device, Server
from lossyfl.data.batches import read_batch
from lossyfl.data.idx import pack_idx, read_idx, read_ints
from lossyfl.data.pickled import read_pickled
from lossyfl.files import bundle, safetensors, snapshot
from lossyfl.files.safetensors import File, Tensor
from lossyfl.protocol.states import DeviceState, ServerState
from lossyfl.report import runs
from lossyfl.results import ledger_file, records
from lossyfl.results.directory import Results, Sizes
from lossyfl.results.experiment import Experiment
from lossyfl.simulation import checkpoint, store
from lossyfl.tasks.training import OptimizerMoments

MEMORY_DISK = Path("/dev/shm")
RESULTS = ("config.toml", "run.json", "rounds.jsonl", "ledger.csv")


@cache
def scratch() -> Path:
    """A folder for this process, removed at its end."""
    fits = MEMORY_DISK.is_dir() and os.access(MEMORY_DISK, os.W_OK)
    folder = Path(tempfile.mkdtemp(prefix="fuzz-", dir=MEMORY_DISK if fits else None))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def written(name: str, data: bytes) -> Path:
    """A file with these bytes."""
    path = scratch() / name
    path.write_bytes(data)
    return path


# Tensors and bundles


def read_tensors(data: bytes) -> None:
    """A safetensors file, and whether its tensors are what it says."""
    for tensor in safetensors.parse(data, of="a file").tensors:
        assert tensor.entries >= 0


def _tensor_seeds() -> Sequence[bytes]:
    tensors = (
        Tensor(name="w", dtype="F32", shape=(2, 3), data=bytes(24)),
        Tensor(name="n", dtype="I64", shape=(), data=bytes(8)),
        Tensor(name="h", dtype="BF16", shape=(4,), data=b"\x80\x3f" * 4),
    )
    files = (File(tensors=tensors, metadata={"format": "pt"}), File(tensors=(), metadata={}))
    return [b"".join(safetensors.pieces(file)) for file in files]


def decode_bundle(data: bytes) -> None:
    """A bundle or frame to a file of floats."""
    source = written("source.lfl", data)
    suffix = ".npy" if data.startswith(b"LFL") else ".safetensors"
    bundle.decode_file(source, scratch() / f"target{suffix}", max_entries=1 << 17)


def encode_model(data: bytes) -> None:
    """A model, or a vector, to a bundle."""
    suffix = ".npy" if data.startswith(b"\x93NUMPY") else ".safetensors"
    source, target = written(f"model{suffix}", data), scratch() / "target.lfl"
    bundle.encode_file(source, target, lossyfl.Stochastic(levels=2), rng=lossyfl.stream(0))


def _model_seeds() -> Sequence[bytes]:
    np.save(scratch() / "seed.npy", laplace(ENTRIES))
    return [*_tensor_seeds(), (scratch() / "seed.npy").read_bytes()]


def _bundle_seeds() -> Sequence[bytes]:
    seeds = [*frame_seeds()[:3]]
    for data in _model_seeds()[::2]:
        encode_model(data)
        seeds.append((scratch() / "target.lfl").read_bytes())
    return seeds


# Saved states


def saved_bytes(state: object) -> bytes:
    """A state as it is saved."""
    path = scratch() / "seed.safetensors"
    snapshot.save(path, state)
    return path.read_bytes()


def with_digest(data: bytes) -> bytes:
    """A snapshot with the digest that its content has."""
    with contextlib.suppress(Exception):  # what cannot be read has none
        file = safetensors.parse(data, of="")
        right = snapshot._digest(file.metadata["facts"], file.tensors)
        return data.replace(file.metadata["digest"].encode(), right.encode(), 1)
    return data


@cache
def states() -> tuple[Server, ServerState, DeviceState]:
    """A server in its second round with a reply that waits, and its device."""
    chosen = lossyfl.scheme("lfl")
    server = Server(laplace(ENTRIES), chosen, samples={0: 1, 1: 1}, seed=1)
    device = Device(1, chosen, seed=1)
    for number in range(2):
        server.open_round()
        reply = device.reply(device.receive(server.frames_for(1)) + 1)
        server.accept(1, reply)
        if number == 0:
            server.close_round()
    return server, server.state(), device.state()


def load_snapshot(kind: type[Any], use: Callable[[Any], object]) -> Callable[[bytes], None]:
    """Reads a state of this kind, and uses it."""

    def run(data: bytes) -> None:
        use(snapshot.load(written("state.safetensors", data), kind))

    return run


def restore_device(state: DeviceState) -> None:
    """A device that goes on."""
    Device(1, lossyfl.scheme("lfl"), seed=1).restore(state)


def restore_server(state: ServerState) -> None:
    """A server that goes on."""
    server, before, _ = states()
    try:
        server.restore(state)
    finally:
        server.restore(before)


def _checkpoint() -> checkpoint.Checkpoint:
    return checkpoint.Checkpoint(
        server=states()[1],
        slots=bytes(2),
        common=laplace(4),
        common_steps=1,
        sizes=Sizes(rounds=100, ledger=100),
        data_dir="",
        average=laplace(4),
        save_updates=(1,),
    )


SHAPE = store.StoreShape(devices=2, uplink={"memory": 5}, moments=7)
SLOTS = np.array([0, 1], dtype=np.int8)
"""Device 0 holds its first slot, device 1 its second."""


@cache
def _devices() -> tuple[bytes, store.Digests]:
    """The file of two devices, and the digests that a checkpoint would name."""
    path = scratch() / "devices-seed.bin"
    store.create(path, SHAPE)
    opened = store.DeviceStore(path, SHAPE)
    for device, slot in enumerate(SLOTS.tolist()):
        link, moments = {"memory": laplace(5)}, OptimizerMoments(values=laplace(7), steps=3)
        opened.write(device, slot, store.DeviceRecord(accepted=1, uplink=link, moments=moments))
    opened.flush()
    opened.close()
    return path.read_bytes(), opened.digests(SLOTS)


def read_store(data: bytes) -> None:
    """The store of a simulation's devices: refused, unless what it holds is as it was written."""
    whole, digests = _devices()
    opened = store.DeviceStore(written("devices.bin", data), SHAPE)
    try:
        opened.check(SLOTS, digests)
        for device, slot in enumerate(SLOTS.tolist()):
            opened.read(device, slot)
    finally:
        opened.close()
    size = len(whole) // 4
    assert data[:size] == whole[:size], "a damaged slot was taken"
    assert data[-size:] == whole[-size:], "a damaged slot was taken"


# Results


@cache
def results_folder() -> Path:
    """A results directory with two rounds."""
    folder = scratch() / "results"
    folder.mkdir()
    results = Results(folder)
    results.create(Experiment(task="digits", scheme="lfl", rounds=2))
    seconds = records.Seconds(
        broadcast=0.1, devices=1.0, aggregate=0.1, evaluate=0.1, save=0.0, total=1.3, training=0.9,
        coding=0.1,
    )  # fmt: skip
    traffic = records.Traffic(nbytes=100, raw=400, paper=90.0, entropy=80.0, entries=100)
    down = replace(
        traffic, carrier=9
    )  # and no copies: as of older versions, which left them to the ledger
    done: list[records.Round] = []
    for number in range(2):
        record = records.Round(
            round=number, metrics={"accuracy": 0.5}, test_loss=1.0, train_loss=None, eps=0.1, distance=0.2,
            replies=3, late=0, late_bytes=0, away=0, down=down, up=traffic, seconds=seconds,
        )  # fmt: skip
        done.append(record)
        results.append(record, states()[0].ledger)
    results.write_about("done", done, "lossyfl run")
    return folder


def read_results(data: bytes) -> None:
    """A results directory one of whose files is another's."""
    name = RESULTS[data[0] % len(RESULTS) if data else 0]
    folder = results_folder()
    whole = whole_file(name)
    (folder / name).write_bytes(data[1:])
    try:
        Results(folder).state()
        if name == "ledger.csv":
            ledger_file.read(folder / name)
        runs.read(folder)
    finally:
        (folder / name).write_bytes(whole)


@cache
def whole_file(name: str) -> bytes:
    return (results_folder() / name).read_bytes()


def _results_seeds() -> Sequence[bytes]:
    return [bytes([number]) + whole_file(name) for number, name in enumerate(RESULTS)]


def read_packed_rounds(data: bytes) -> None:
    """The rounds of a run, packed by gzip."""
    path = written("rounds.jsonl.gz", data)
    records.read_rounds(path.with_suffix(""))


def _packed_seeds() -> Sequence[bytes]:
    return [gzip.compress(whole_file("rounds.jsonl"), mtime=0)]


# Data sets


def read_images(data: bytes) -> None:
    """MNIST's format, plain or packed."""
    for suffix in ("", ".gz", ".xz"):
        with contextlib.suppress(lossyfl.LossyflError):
            read_idx(written(f"images{suffix}", data), axes=3)
    with contextlib.suppress(lossyfl.LossyflError):
        read_ints(written("writers", data), axes=2)
    read_idx(written("labels", data), axes=1)


def _image_seeds() -> Sequence[bytes]:
    plain = [pack_idx(np.zeros(shape, np.uint8)) for shape in ((2, 3, 3), (5,))]
    plain.append(pack_idx(np.arange(8, dtype="<i4").reshape(1, 8)))
    return [*plain, gzip.compress(plain[0]), lzma.compress(plain[0])]


def read_cifar(data: bytes) -> None:
    """CIFAR-10's two formats."""
    path = written("data_batch_1", data)
    with contextlib.suppress(lossyfl.LossyflError):
        read_batch(path)
    read_pickled(path)


def _cifar_seeds() -> Sequence[bytes]:
    rows = np.zeros((2, 3072), np.uint8)
    content = {"data": rows, "labels": [1, 2], "batch_label": "x", "filenames": ["a", "b"]}
    old = {key.encode(): value for key, value in content.items()}
    pickles = [pickle.dumps(d, protocol) for d in (content, old) for protocol in (0, 1, 2, 4)]
    return [*pickles, bytes([1]) + bytes(3072)]


def _state_seeds(*made: object) -> Callable[[], Sequence[bytes]]:
    return lambda: [saved_bytes(state) for state in made]


TARGETS = (
    Target(name="safetensors", run=read_tensors, seeds=_tensor_seeds, how=HEADED),
    Target(name="model", run=encode_model, seeds=_model_seeds, how=HEADED),
    Target(name="bundle", run=decode_bundle, seeds=_bundle_seeds, how=HEADED),
    Target(
        name="device-state",
        run=load_snapshot(DeviceState, restore_device),
        seeds=lambda: [saved_bytes(states()[2]), saved_bytes(DeviceState())],
        how=HEADED,
        mend=with_digest,
    ),
    Target(
        name="server-state",
        run=load_snapshot(ServerState, restore_server),
        seeds=lambda: [saved_bytes(states()[1])],
        how=HEADED,
        mend=with_digest,
    ),
    Target(
        name="checkpoint",
        run=load_snapshot(checkpoint.Checkpoint, lambda found: restore_server(found.server)),
        seeds=lambda: [saved_bytes(_checkpoint())],
        how=HEADED,
        mend=with_digest,
    ),
    Target(name="devices-bin", run=read_store, seeds=lambda: [_devices()[0]]),
    Target(name="results", run=read_results, seeds=_results_seeds, how=(*TEXT, *PLAIN)),
    Target(name="packed-rounds", run=read_packed_rounds, seeds=_packed_seeds),
    Target(name="idx", run=read_images, seeds=_image_seeds),
    Target(name="cifar", run=read_cifar, seeds=_cifar_seeds),
)
