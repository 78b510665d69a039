"""The ways in which data sets lie on disk: which files, and how to read and to write them."""

import gzip
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np

from lossyfl.data.batches import CLASSES, Batch, pack_batch, read_batch
from lossyfl.data.dataset import AnyDataset, Array, ArrayDataset, Dataset
from lossyfl.data.idx import pack_idx, read_idx, read_ints
from lossyfl.data.pickled import read_pickled
from lossyfl.files.unpack import read_unpacked

Read: TypeAlias = Callable[[str, Sequence[Path]], AnyDataset]
Packed: TypeAlias = tuple[str, bytes]
Pack: TypeAlias = Callable[[Sequence[Array]], Iterator[Packed]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLayout:
    """One way to keep a data set.

    files: for every file the spellings of its name, the one that `pack` writes first
    read:  the data set of this name in these files, one of each, unchecked
    pack:  name and content of every file, of the arrays; None if we never write this layout
    """

    files: tuple[tuple[str, ...], ...]
    read: Read
    pack: Pack | None = None

    @property
    def first_names(self) -> list[str]:
        """The preferred name of every file."""
        return [spellings[0] for spellings in self.files]


def _read_idx_files(name: str, files: Sequence[Path]) -> Dataset:
    train_x, test_x = (read_idx(files[i], axes=3)[:, None] for i in (0, 2))
    train_y, test_y = (read_idx(files[i], axes=1) for i in (1, 3))
    return Dataset(
        name=name, classes=10, train_x=train_x, train_y=train_y, test_x=test_x, test_y=test_y
    )


def _pack_idx_files(arrays: Sequence[Array]) -> Iterator[Packed]:
    for name, array in zip(IDX.first_names, arrays, strict=True):
        plain = array[:, 0] if array.ndim == 4 else array  # IDX has no axis for the one channel
        yield name, gzip.compress(pack_idx(plain), 6, mtime=0)


def _read_batches(name: str, files: Sequence[Path], read: Callable[[Path], Batch]) -> Dataset:
    *train, test = (read(file) for file in files)
    return Dataset(
        name=name,
        classes=CLASSES,
        train_x=np.concatenate([part.x for part in train]),
        train_y=np.concatenate([part.y for part in train]),
        test_x=test.x.copy(),
        test_y=test.y.copy(),
    )


def _read_binary_files(name: str, files: Sequence[Path]) -> Dataset:
    return _read_batches(name, files, read_batch)


def _read_pickled_files(name: str, files: Sequence[Path]) -> Dataset:
    return _read_batches(name, files, read_pickled)


def _pack_binary_files(arrays: Sequence[Array]) -> Iterator[Packed]:
    train_x, train_y, test_x, test_y = arrays
    *train, test = BINARY.first_names
    for i, name in enumerate(train):
        size = len(train_y) // len(train)
        part = slice(i * size, (i + 1) * size)
        yield name, pack_batch(Batch(x=train_x[part], y=train_y[part]))
    yield test, pack_batch(Batch(x=test_x, y=test_y))


def _read_writer_files(name: str, files: Sequence[Path]) -> ArrayDataset:
    return ArrayDataset(name=name, arrays=tuple(read_ints(file, axes=2) for file in files))


def _pack_writer_files(arrays: Sequence[Array]) -> Iterator[Packed]:
    for name, array in zip(WRITERS.first_names, arrays, strict=True):
        yield name, gzip.compress(pack_idx(array), 6, mtime=0)


def _read_text_files(name: str, files: Sequence[Path]) -> ArrayDataset:
    """The text that is in these files, one after the other."""
    text = b"".join(read_unpacked(file, of="the data") for file in files)
    return ArrayDataset(name=name, arrays=(np.frombuffer(text, np.uint8),))


def _pack_text_file(arrays: Sequence[Array]) -> Iterator[Packed]:
    (text,) = arrays
    yield TEXT.first_names[0], text.tobytes()


def _idx_spellings(stem: str, kind: str) -> tuple[str, ...]:
    return tuple(f"{stem}{mark}{kind}-ubyte{end}" for mark in "-." for end in (".gz", ""))


BATCHES = (*(f"data_batch_{i}" for i in range(1, 6)), "test_batch")

IDX = FileLayout(
    files=tuple(
        _idx_spellings(f"{part}-{what}", kind)
        for part in ("train", "t10k")
        for what, kind in (("images", "idx3"), ("labels", "idx1"))
    ),
    read=_read_idx_files,
    pack=_pack_idx_files,
)
BINARY = FileLayout(
    files=tuple(tuple(f"{name}.bin{end}" for end in ("", ".xz", ".gz")) for name in BATCHES),
    read=_read_binary_files,
    pack=_pack_binary_files,
)
PICKLED = FileLayout(files=tuple((name,) for name in BATCHES), read=_read_pickled_files)
WRITERS = FileLayout(
    files=tuple(
        tuple(f"qmnist-{part}-labels-idx2-int{end}" for end in (".gz", ""))
        for part in ("train", "test")
    ),
    read=_read_writer_files,
    pack=_pack_writer_files,
)
TEXT = FileLayout(
    files=(("shakespeare.txt", "input.txt"),), read=_read_text_files, pack=_pack_text_file
)
THREE_TEXTS = FileLayout(
    files=tuple((f"ts.{part}.txt",) for part in ("train", "valid", "test")), read=_read_text_files
)
