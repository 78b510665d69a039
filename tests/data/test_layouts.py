"""What we write is what we read, in every spelling."""

import gzip
from pathlib import Path

import pytest
from tests.data.small import (
    SMALL_CIFAR,
    SMALL_MNIST,
    SMALL_PLAYS,
    SMALL_QMNIST,
    python2_pickle,
    same,
)

from lossyfl.data.layouts import BATCHES, BINARY, IDX, PICKLED, TEXT, THREE_TEXTS, WRITERS


@pytest.mark.parametrize("spelling", range(4))
def test_idx_in_every_spelling(spelling: int, tmp_path: Path) -> None:
    files: list[Path] = []
    for written, names in zip(SMALL_MNIST.write(tmp_path / "w"), IDX.files, strict=True):
        files.append(tmp_path / names[spelling])
        content = written.read_bytes()
        files[-1].write_bytes(
            content if names[spelling].endswith(".gz") else gzip.decompress(content)
        )
    assert same(IDX.read("mnist", files), SMALL_MNIST.dataset)


def test_idx_names_are_the_original_ones() -> None:
    assert IDX.files[0] == (
        "train-images-idx3-ubyte.gz",
        "train-images-idx3-ubyte",
        "train-images.idx3-ubyte.gz",
        "train-images.idx3-ubyte",
    )
    assert IDX.files[3][1] == "t10k-labels-idx1-ubyte"


def test_gzip_has_no_time_in_it(tmp_path: Path) -> None:
    assert all(file.read_bytes()[4:8] == bytes(4) for file in SMALL_MNIST.write(tmp_path))


def test_binary(tmp_path: Path) -> None:
    back = BINARY.read("cifar10", SMALL_CIFAR.write(tmp_path))
    assert same(back, SMALL_CIFAR.dataset)
    assert all(array.flags.c_contiguous and array.flags.writeable for array in back.arrays)


def test_pickled(tmp_path: Path) -> None:
    whole = SMALL_CIFAR.dataset
    for i, name in enumerate(BATCHES[:-1]):
        part = slice(2 * i, 2 * i + 2)
        (tmp_path / name).write_bytes(python2_pickle(whole.train_x[part], whole.train_y[part]))
    (tmp_path / BATCHES[-1]).write_bytes(python2_pickle(whole.test_x, whole.test_y))
    assert same(PICKLED.read("cifar10", [tmp_path / name for name in BATCHES]), whole)


def test_writers(tmp_path: Path) -> None:
    files = SMALL_QMNIST.write(tmp_path)
    assert [file.name for file in files] == [
        "qmnist-train-labels-idx2-int.gz",
        "qmnist-test-labels-idx2-int.gz",
    ]
    assert same(WRITERS.read("qmnist", files), SMALL_QMNIST.dataset)


def test_a_text_in_one_file_or_three(tmp_path: Path) -> None:
    (whole,) = SMALL_PLAYS.write(tmp_path)
    assert same(TEXT.read("shakespeare", [whole]), SMALL_PLAYS.dataset)
    content, three = whole.read_bytes(), [tmp_path / name for name in THREE_TEXTS.first_names]
    for file, piece in zip(three, (content[:7], content[7:90], content[90:]), strict=True):
        file.write_bytes(piece)
    assert same(THREE_TEXTS.read("shakespeare", three), SMALL_PLAYS.dataset)
