"""Data sets of a few images with the file names, layouts and folders of the real ones."""

import lzma
import struct
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from lossyfl.data.catalog import CIFAR10, FASHION_MNIST, MNIST
from lossyfl.data.dataset import Bytes, Dataset
from lossyfl.data.facts import DatasetFacts, parts
from lossyfl.data.verify import sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class Small:
    """A small data set and what is known of it."""

    facts: DatasetFacts
    dataset: Dataset

    def write(self, folder: Path) -> list[Path]:
        """Its files in the layout that we write."""
        pack = self.facts.layouts[0].pack
        assert pack is not None
        folder.mkdir(parents=True, exist_ok=True)
        files: list[Path] = []
        for name, content in pack(self.dataset):
            files.append(folder / name)
            files[-1].write_bytes(content)
        return files


def small(real: DatasetFacts, train: int, test: int, seed: int) -> Small:
    rng = np.random.default_rng(seed)
    dataset = Dataset(
        name=real.name,
        classes=real.classes,
        train_x=rng.integers(0, 256, (train, *real.shape), np.uint8),
        train_y=rng.integers(0, 10, train, np.uint8),
        test_x=rng.integers(0, 256, (test, *real.shape), np.uint8),
        test_y=rng.integers(0, 10, test, np.uint8),
    )
    sums = tuple(sha256(array) for array in dataset.arrays)
    return Small(facts=replace(real, parts=parts(train, test, real.shape, sums)), dataset=dataset)


SMALL_MNIST = small(MNIST, 12, 5, seed=1)
SMALL_FASHION = small(FASHION_MNIST, 12, 5, seed=2)
SMALL_CIFAR = small(CIFAR10, 10, 3, seed=3)


def same(a: Dataset, b: Dataset) -> bool:
    return all(np.array_equal(x, y) for x, y in zip(a.arrays, b.arrays, strict=True))


def write_xz(folder: Path) -> list[Path]:
    """The files of the small CIFAR-10, each packed with xz."""
    files: list[Path] = []
    for plain in SMALL_CIFAR.write(folder):
        files.append(plain.with_name(f"{plain.name}.xz"))
        files[-1].write_bytes(lzma.compress(plain.read_bytes()))
        plain.unlink()
    return files


def python2_pickle(x: Bytes, y: Bytes) -> bytes:
    """A batch as Python 2 and an old NumPy pickled it: the bytes of the original files, shortened."""
    rows = x.reshape(len(x), x[0].size if len(x) else 3072)
    raw = rows.tobytes()
    return b"".join(
        [
            b"\x80\x02}q\x01(U\x0bbatch_labelq\x02U\x01xq\x03U\x06labelsq\x04]q\x05(",
            b"".join(b"K" + bytes([label]) for label in y.tolist()),
            b"eU\x04dataq\x06cnumpy.core.multiarray\n_reconstruct\nq\x07cnumpy\nndarray\nq\x08",
            b"K\x00\x85q\tU\x01b\x87q\nRq\x0b(K\x01M",
            struct.pack("<H", rows.shape[0]) + b"M" + struct.pack("<H", rows.shape[1]),
            b"\x86cnumpy\ndtype\nq\x0cU\x02u1K\x00K\x01\x87Rq\r(K\x03U\x01|NNN",
            b"J\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89T" + struct.pack("<I", len(raw)) + raw,
            b"tbu.",
        ]
    )
