"""A Debian package that carries Fashion-MNIST: what apt would bring is put there by hand."""

from pathlib import Path

import pytest
from tests.data.small import SMALL_FASHION, same

from lossyfl.data.sources import SourceError, debian


def test_unpacked_files_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(command: list[str], folder: Path) -> None:
        if command[0] == "apt-get":
            (folder / "dataset-fashion-mnist_1_all.deb").touch()
        else:
            assert command == ["dpkg", "-x", "dataset-fashion-mnist_1_all.deb", "unpacked"]
            SMALL_FASHION.write(folder / "unpacked/usr/share/datasets/fashion-mnist")

    monkeypatch.setattr(debian, "run", run)
    back = debian.FASHION_MNIST.get("fashion-mnist", tmp_path)
    assert same(back, SMALL_FASHION.dataset)


def test_nothing_came(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "run", lambda *_: None)
    with pytest.raises(SourceError, match="no dataset-fashion-mnist came"):
        debian.FASHION_MNIST.get("fashion-mnist", tmp_path)
