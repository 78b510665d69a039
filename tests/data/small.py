"""Data sets of a few images with the file names, layouts and folders of the real ones."""

import lzma
import struct
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Generic, TypeVar

import numpy as np

from lossyfl.data.catalog import CIFAR10, FASHION_MNIST, MNIST, QMNIST, SHAKESPEARE
from lossyfl.data.dataset import AnyDataset, Array, ArrayDataset, Bytes, Dataset
from lossyfl.data.facts import DatasetFacts, Part, parts
from lossyfl.data.verify import sha256

D = TypeVar("D", bound=AnyDataset)


@dataclass(frozen=True, slots=True, kw_only=True)
class Small(Generic[D]):
    """A small data set and what is known of it."""

    facts: DatasetFacts
    dataset: D

    def write(self, folder: Path) -> list[Path]:
        """Its files in the layout that we write."""
        pack = self.facts.layouts[0].pack
        assert pack is not None
        folder.mkdir(parents=True, exist_ok=True)
        files: list[Path] = []
        for name, content in pack(self.dataset.arrays):
            files.append(folder / name)
            files[-1].write_bytes(content)
        return files


def small(real: DatasetFacts, train: int, test: int, seed: int) -> Small[Dataset]:
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


def small_arrays(real: DatasetFacts, *arrays: Array) -> Small[ArrayDataset]:
    made = tuple(
        Part(name=part.name, shape=array.shape, sha256=sha256(array))
        for part, array in zip(real.parts, arrays, strict=True)
    )
    dataset = ArrayDataset(name=real.name, arrays=arrays)
    return Small(facts=replace(real, parts=made), dataset=dataset)


def small_labels(classes: Bytes, writers: list[int], seed: int) -> Array:
    """Rows as QMNIST's: class, series, writer, and five numbers more."""
    rows = np.random.default_rng(seed).integers(0, 1 << 20, (len(classes), 8)).astype("<i4")
    rows[:, 0], rows[:, 2] = classes, writers
    return rows


SMALL_MNIST = small(MNIST, 12, 5, seed=1)
SMALL_FASHION = small(FASHION_MNIST, 12, 5, seed=2)
SMALL_CIFAR = small(CIFAR10, 10, 3, seed=3)
SMALL_QMNIST = small_arrays(
    QMNIST,
    small_labels(SMALL_MNIST.dataset.train_y, [7, 7, 2, 9, 9, 9, 2, 7, 2, 9, 7, 9], seed=4),
    small_labels(SMALL_MNIST.dataset.test_y, [3, 1, 1, 3, 1], seed=5),
)
SAID = (("ANNE", "No", 30), ("BEN", "Yes", 90), ("ANNE", "Why", 30), ("First Citizen", "O", 1))
PLAY = "".join(
    f"{name}:\n{' '.join(f'{word} {n} is all I say.' for n in range(count))}\n\n"
    for name, word, count in SAID
)
"""Two speakers with enough for a device, and one with too little for a sample."""
SMALL_PLAYS = small_arrays(SHAKESPEARE, np.frombuffer(PLAY.encode(), np.uint8))


def same(a: AnyDataset, b: AnyDataset) -> bool:
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
