"""Files that anybody may have written: every reader takes them, or says by one of our errors why not."""

import io
import json
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.hostile import TEXTS, again, changed, damaged, texts, whole

from lossyfl import InputError, LossyflError
from lossyfl.files import safetensors, snapshot
from lossyfl.files.bundle import decode_file, encode_file, read_frame
from lossyfl.files.safetensors import File, Tensor
from lossyfl.protocol.states import DeviceState, ServerState
from lossyfl.quantizers import quantizer
from lossyfl.results.directory import Sizes
from lossyfl.simulation.checkpoint import Checkpoint
from lossyfl.streams import stream
from lossyfl.types import Vector

FLOATS = np.linspace(-1, 1, 6, dtype=np.float32)
MODEL = File(
    tensors=(
        Tensor(name="a", dtype="F32", shape=(2, 3), data=FLOATS.tobytes()),
        Tensor(name="h", dtype="F16", shape=(2,), data=b"\x00\x3c\x00\xbc"),
        Tensor(name="n", dtype="I64", shape=(), data=bytes(8)),
    ),
    metadata={"k": "v"},
)
same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
"""Every example writes the same file anew."""


def with_header(header: str, body: bytes = bytes(36)) -> bytes:
    text = header.encode(errors="surrogatepass")
    return len(text).to_bytes(8, "little") + text + body


def header_of(data: bytes) -> dict[str, object]:
    size = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + size])


def parse(data: bytes) -> None:
    """Read tensors and look at all that is in them."""
    with suppress(InputError):
        for tensor in safetensors.parse(data, of="x").tensors:
            assert memoryview(tensor.data).nbytes <= len(data)
            assert tensor.entries >= 0


class TestSafetensors:
    def test_a_shape_of_very_many_axes_is_refused(self) -> None:
        shape = [1 << 62] * 65
        tensor = {"dtype": "F32", "shape": shape, "data_offsets": [0, 36]}
        with pytest.raises(InputError, match="65 whole numbers, of more than 64 axes"):
            safetensors.parse(with_header(json.dumps({"a": tensor})), of="x")

    @given(texts(header_of(whole(MODEL))))
    def test_headers(self, header: str) -> None:
        parse(with_header(header))

    @given(damaged(whole(MODEL)) | st.binary(max_size=40))
    def test_bytes(self, data: bytes) -> None:
        parse(data)

    @pytest.mark.parametrize("header", TEXTS)
    def test_texts(self, header: str) -> None:
        with suppress(InputError):
            safetensors.parse(with_header(header, b""), of="x")

    def test_tensors_do_not_overlap(self) -> None:
        """A megabyte that a thousand tensors name would be a gigabyte."""
        places = [{"dtype": "U8", "shape": [9], "data_offsets": [0, 9]} for _ in range(2)]
        header = json.dumps(dict(zip("ab", places, strict=True)))
        with pytest.raises(InputError, match="tensor b of x must be at byte 9"):
            safetensors.parse(with_header(header, bytes(9)), of="x")

    def test_a_shape_fits_its_bytes(self) -> None:
        """2^32 times 2^32 entries are none in 64 bits."""
        place = {"dtype": "F32", "shape": [2**32, 2**32], "data_offsets": [0, 0]}
        with pytest.raises(InputError, match="another size than its shape"):
            safetensors.parse(with_header(json.dumps({"a": place}), b""), of="x")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> File:
    folder = tmp_path_factory.mktemp("bundle")
    safetensors.write(folder / "m.safetensors", MODEL)
    encode_file(folder / "m.safetensors", folder / "m.lfl", quantizer("stochastic"), rng=stream(1))
    return safetensors.read(folder / "m.lfl")


def decode_bytes(folder: Path, data: bytes) -> None:
    """Decode what is in a file, and look at it."""
    (folder / "x.lfl").write_bytes(data)
    for name in ("x.npy", "x.safetensors"):
        with suppress(LossyflError):
            decode_file(folder / "x.lfl", folder / name)
    with suppress(LossyflError):
        read_frame(folder / "x.lfl")


class TestBundle:
    @same_folder
    @given(data=st.data())
    def test_listings_and_metadata(self, data: st.DataObject, bundle: File, tmp_path: Path) -> None:
        listing = data.draw(texts(json.loads(bundle.metadata["floats"])))
        kept = data.draw(texts(json.loads(bundle.metadata["metadata"])))
        for said in ({"floats": listing}, {"metadata": kept}):
            texts_of = {k: v.encode(errors="replace").decode() for k, v in said.items()}
            hostile = replace(bundle, metadata=bundle.metadata | texts_of)
            decode_bytes(tmp_path, whole(hostile))

    @same_folder
    @given(data=st.data())
    def test_bytes(self, data: st.DataObject, bundle: File, tmp_path: Path) -> None:
        decode_bytes(tmp_path, data.draw(damaged(whole(bundle)) | st.binary(max_size=40)))

    def test_without_a_listing(self, bundle: File, tmp_path: Path) -> None:
        metadata = {k: v for k, v in bundle.metadata.items() if k != "floats"}
        (tmp_path / "x.lfl").write_bytes(whole(replace(bundle, metadata=metadata)))
        with pytest.raises(InputError, match=r"listing of x\.lfl must be"):
            decode_file(tmp_path / "x.lfl", tmp_path / "x.safetensors")

    def test_a_name_twice(self, bundle: File, tmp_path: Path) -> None:
        listing = bundle.metadata["floats"].replace('"h"', '"n"')
        hostile = replace(bundle, metadata=bundle.metadata | {"floats": listing})
        (tmp_path / "x.lfl").write_bytes(whole(hostile))
        with pytest.raises(InputError, match=r"names of x\.lfl must be different ones"):
            decode_file(tmp_path / "x.lfl", tmp_path / "x.safetensors")


def npy(x: object) -> bytes:
    file = io.BytesIO()
    np.save(file, np.asarray(x))
    return file.getvalue()


class TestVectors:
    @same_folder
    @given(data=damaged(npy(FLOATS)))
    @example(data=npy(FLOATS).replace(b"(6,)", b"(10**15,)"))
    @example(data=npy(FLOATS)[:10] + b"(" * 100)
    @example(data=npy(FLOATS)[:10] + b"{" * 9000)
    @example(data=npy(FLOATS.astype(object)))
    @example(data=npy(FLOATS.astype(complex)))
    def test_bytes(self, data: bytes, tmp_path: Path) -> None:
        (tmp_path / "x.npy").write_bytes(data)
        with suppress(LossyflError):
            encode_file(
                tmp_path / "x.npy", tmp_path / "x.lfl", quantizer("stochastic"), rng=stream(1)
            )

    def test_an_archive_of_vectors(self, tmp_path: Path) -> None:
        np.savez(tmp_path / "x.npz", FLOATS)
        (tmp_path / "x.npz").rename(tmp_path / "x.npy")
        with pytest.raises(InputError, match=r"content of x\.npy must be a \.npy array"):
            encode_file(
                tmp_path / "x.npy", tmp_path / "x.lfl", quantizer("stochastic"), rng=stream(1)
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything:
    """All types that a state has."""

    number: int
    real: float
    note: str | None
    flag: bool
    values: Vector
    raw: bytes
    many: tuple[int, ...]
    device: DeviceState
    parts: dict[int, DeviceState]


EVERYTHING = Everything(
    number=1,
    real=0.5,
    note=None,
    flag=True,
    values=FLOATS,
    raw=b"abc",
    many=(1, 2),
    device=DeviceState(),
    parts={3: DeviceState(), -4: DeviceState()},
)


def holds(value: object, kind: object) -> bool:
    """Whether a value that was read is of its type, where that is a plain one."""
    return type(value) is kind or (kind is float and type(value) is int)


class TestSnapshot:
    @same_folder
    @given(data=st.data())
    def test_facts(self, data: st.DataObject, tmp_path: Path) -> None:
        path = tmp_path / "state"
        snapshot.save(path, EVERYTHING)
        file = safetensors.read(path)
        facts = data.draw(texts(json.loads(file.metadata["facts"])))
        path.write_bytes(again(file, facts.encode(errors="replace").decode()))
        for mapped in (False, True):
            with suppress(InputError):
                found = snapshot.load(path, Everything, mapped=mapped)
                assert holds(found.number, int)
                assert holds(found.real, float)
                assert all(holds(number, int) for number in found.many)
                assert found.note is None or holds(found.note, str)

    @same_folder
    @given(data=st.data())
    def test_bytes(self, data: st.DataObject, tmp_path: Path) -> None:
        path = tmp_path / "state"
        snapshot.save(path, EVERYTHING)
        path.write_bytes(data.draw(damaged(path.read_bytes())))
        for mapped in (False, True):
            for digest in (False, True):
                with suppress(InputError):
                    snapshot.load(path, Everything, mapped=mapped, digest=digest)

    @same_folder
    @given(data=st.data())
    def test_tensors(self, data: st.DataObject, tmp_path: Path) -> None:
        path = tmp_path / "state"
        snapshot.save(path, EVERYTHING)
        file = safetensors.read(path)
        number = data.draw(st.integers(0, len(file.tensors) - 1))
        kind = data.draw(st.sampled_from(["U8", "F32", "I64", "X1"]))
        size = data.draw(st.sampled_from([0, 8, 24]))
        shape = data.draw(st.sampled_from([(size,), (size // 4,), (size // 8,), (2, size // 8)]))
        odd = replace(file.tensors[number], dtype=kind, shape=shape, data=bytes(size))
        others = file.tensors[:number] + file.tensors[number + 1 :]
        path.write_bytes(again(file, file.metadata["facts"], (*others, odd)))
        with suppress(InputError):
            snapshot.load(path, Everything)

    @same_folder
    @given(data=st.data())
    def test_checkpoints(self, data: st.DataObject, tmp_path: Path) -> None:
        path = tmp_path / "state"
        snapshot.save(path, CHECKPOINT)
        file = safetensors.read(path)
        facts = data.draw(changed(json.loads(file.metadata["facts"])).map(json.dumps))
        path.write_bytes(again(file, facts))
        with suppress(InputError):
            snapshot.load(path, Checkpoint)


def _checkpoint() -> Checkpoint:
    import lossyfl

    server = lossyfl.Server(FLOATS, lossyfl.scheme("lfl"), samples={0: 1, 1: 1}, seed=0)
    server.open_round()
    state: ServerState = server.state()
    return Checkpoint(
        server=state,
        slots=b"\xff\xff",
        common=FLOATS[:0],
        common_steps=0,
        sizes=Sizes(rounds=0, ledger=0),
        data_dir="",
        average=FLOATS[:0],
        save_updates=(1,),
    )


CHECKPOINT = _checkpoint()


@pytest.mark.parametrize("what", ["folder", "pipe", "loop", "nothing", "closed"])
def test_what_is_no_file_is_said(what: str, tmp_path: Path) -> None:
    path = tmp_path / "x.safetensors"
    {
        "folder": path.mkdir,
        "pipe": lambda: os.mkfifo(path),
        "loop": lambda: path.symlink_to(path),
        "nothing": lambda: None,
        "closed": lambda: path.touch(mode=0),
    }[what]()
    if what == "closed" and os.access(path, os.R_OK):
        path.unlink()  # the superuser reads everything
    for mapped in (False, True):
        with pytest.raises(InputError):
            safetensors.read(path, mapped=mapped)
        with pytest.raises(InputError):
            snapshot.load(path, DeviceState, mapped=mapped)
    with pytest.raises(InputError):
        read_frame(path)
    with pytest.raises(InputError):
        encode_file(path, tmp_path / "out", quantizer("stochastic"), rng=stream(1))
