"""Data sets by their names, small ones and, where they are at hand, the real ones."""

import gzip
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.data.small import SMALL_CIFAR, SMALL_MNIST, SMALL_PLAYS, SMALL_QMNIST, Small, same

from lossyfl.data import load, load_arrays
from lossyfl.data.dataset import ArrayDataset
from lossyfl.data.plays import speeches
from lossyfl.errors import InputError

BESIDE = Path(__file__).parents[3] / "shared" / "data"
REAL = Path(os.environ.get("LOSSYFL_DATA") or BESIDE)
USERS_CACHE = os.environ.get("XDG_CACHE_HOME", "")


@pytest.mark.usefixtures("small_sets")
class TestSmall:
    def test_from_a_folder_and_from_the_cache(self, tmp_path: Path, cache: Path) -> None:
        SMALL_MNIST.write(tmp_path / "mnist")
        SMALL_CIFAR.write(cache / "cifar10")
        assert same(load("mnist", tmp_path), SMALL_MNIST.dataset)
        assert same(load("cifar10"), SMALL_CIFAR.dataset)

    def test_other_than_images(self, tmp_path: Path) -> None:
        SMALL_PLAYS.write(tmp_path / "shakespeare")
        SMALL_QMNIST.write(tmp_path / "qmnist")
        for small in (SMALL_PLAYS, SMALL_QMNIST):
            arrays = load_arrays(small.facts.name, tmp_path)
            assert all(map(np.array_equal, arrays, small.dataset.arrays))
        with pytest.raises(InputError, match=r"name of a data set of images must be .*cifar10"):
            load("qmnist", tmp_path)

    @pytest.mark.parametrize("small", [SMALL_PLAYS, SMALL_QMNIST])
    def test_other_than_images_and_changed(
        self, small: Small[ArrayDataset], tmp_path: Path
    ) -> None:
        arrays = [array.copy() for array in small.dataset.arrays]
        arrays[-1].flat[-1] ^= 1
        changed = replace(small, dataset=replace(small.dataset, arrays=tuple(arrays)))
        changed.write(tmp_path / small.facts.name)
        with pytest.raises(InputError, match=r" must be the known array, sha256 .* changed"):
            load_arrays(small.facts.name, tmp_path)

    def test_changed_content_is_refused(self, tmp_path: Path) -> None:
        labels = SMALL_MNIST.write(tmp_path / "mnist")[3]
        plain = gzip.decompress(labels.read_bytes())
        labels.write_bytes(gzip.compress(plain[:-1] + bytes([plain[-1] ^ 1])))
        with pytest.raises(InputError, match=r"test_y of mnist in .*mnist must be the known array"):
            load("mnist", tmp_path)

    def test_another_number_of_images_is_refused(self, tmp_path: Path) -> None:
        batch = SMALL_CIFAR.write(tmp_path / "cifar10")[0]
        batch.write_bytes(batch.read_bytes()[:3073])
        with pytest.raises(
            InputError, match=r"shape of train_x of cifar10 .* got \(9, 3, 32, 32\)"
        ):
            load("cifar10", tmp_path)


class TestReal:
    def test_mnist(self) -> None:
        if not (REAL / "mnist").is_dir():
            pytest.skip("MNIST is not here")
        mnist = load("mnist", REAL)
        assert mnist.train_x.shape == (60_000, 1, 28, 28)
        assert mnist.train_y[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]
        assert np.bincount(mnist.test_y).tolist() == [
            980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009,
        ]  # fmt: skip
        assert (mnist.train_x / np.float32(255)).mean() == pytest.approx(0.13066, abs=1e-5)

    def test_cifar10(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Unpacking takes 12 s, so this one test uses the user's cache, as the user would."""
        if not (REAL / "cifar10").is_dir():
            pytest.skip("CIFAR-10 is not here")
        monkeypatch.setenv("XDG_CACHE_HOME", USERS_CACHE)
        cifar = load("cifar10", REAL)
        assert cifar.train_x.shape == (50_000, 3, 32, 32)
        assert cifar.train_y[:10].tolist() == [6, 9, 9, 4, 1, 1, 2, 7, 8, 3]
        assert cifar.test_y[:10].tolist() == [3, 8, 8, 0, 6, 6, 1, 6, 3, 1]
        assert np.bincount(cifar.train_y).tolist() == [5000] * 10
        means = [125.306918046875, 122.950394140625, 113.86538318359375]
        assert cifar.train_x.mean(axis=(0, 2, 3)).tolist() == pytest.approx(means, abs=1e-9)

    def test_writers_of_mnist(self) -> None:
        if not (REAL / "mnist").is_dir() or not (REAL / "qmnist").is_dir():
            pytest.skip("MNIST or QMNIST's labels are not here")
        mnist, labels = load("mnist", REAL), load_arrays("qmnist", REAL)
        train, test = labels[0], labels[1][:10_000]
        assert np.array_equal(train[:, 0], mnist.train_y)
        assert np.array_equal(test[:, 0], mnist.test_y)
        writers, counts = np.unique(train[:, 2], return_counts=True)
        assert (len(writers), counts.min(), counts.max()) == (539, 19, 131)
        assert len(np.setdiff1d(test[:, 2], writers)) == 297

    def test_shakespeare(self) -> None:
        if not (REAL / "shakespeare").is_dir():
            pytest.skip("Shakespeare is not here")
        (text,) = load_arrays("shakespeare", REAL)
        found = speeches(text.tobytes().decode())
        assert len(found) == 299
        assert found["First Citizen"].startswith("Before we proceed any further, hear me speak.")
        assert sum(map(len, found.values())) == 1_027_553
