"""Mirrors, from a server on this machine."""

import functools
import hashlib
import http.server
import sys
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.data.small import SMALL_CIFAR, SMALL_MNIST, SMALL_PLAYS, SMALL_QMNIST, same

from lossyfl.data.sources import SourceError, mirrors
from lossyfl.errors import MissingExtra


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def served(tmp_path: Path) -> Path:
    folder = tmp_path / "served"
    folder.mkdir()
    return folder


@pytest.fixture
def url(served: Path) -> Iterator[str]:
    pytest.importorskip("pooch")
    handler = functools.partial(Quiet, directory=str(served))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def md5(path: Path) -> str:
    return hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()


def test_idx(url: str, served: Path, tmp_path: Path) -> None:
    sums = tuple(md5(file) for file in SMALL_MNIST.write(served))
    (source,) = mirrors.idx_mirrors(sums, url)
    assert source.title == url
    assert same(source.get("mnist", tmp_path), SMALL_MNIST.dataset)


def test_archive(url: str, served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = served / "c.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        for file in SMALL_CIFAR.write(tmp_path / "w"):
            tar.add(file, f"cifar-10-batches-bin/{file.name}")
    monkeypatch.setattr(mirrors, "CIFAR_SUM", md5(archive))
    source = mirrors.cifar_mirror(f"{url}c.tar.gz")
    assert same(source.get("cifar10", tmp_path), SMALL_CIFAR.dataset)


def test_writers(url: str, served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sums = tuple(md5(file) for file in SMALL_QMNIST.write(served))
    monkeypatch.setattr(mirrors, "WRITER_SUMS", sums)
    assert same(mirrors.writers_mirror(url).get("qmnist", tmp_path), SMALL_QMNIST.dataset)


def test_text(url: str, served: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (file,) = SMALL_PLAYS.write(served)
    monkeypatch.setattr(mirrors, "TEXT_SUM", md5(file))
    source = mirrors.text_mirror(url + file.name)
    assert same(source.get("shakespeare", tmp_path), SMALL_PLAYS.dataset)


def test_wrong_file(url: str, served: Path, tmp_path: Path) -> None:
    (served / "x").write_bytes(b"changed")
    with pytest.raises(ValueError, match="does not match the known hash"):
        mirrors.download(f"{url}x", "0" * 32, tmp_path)
    assert list(tmp_path.glob("x*")) == []


def test_no_such_file(url: str, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="404"):
        mirrors.download(f"{url}x", "0" * 32, tmp_path)


def test_no_connection(tmp_path: Path) -> None:
    pytest.importorskip("pooch")
    with pytest.raises(SourceError, match=r"^no connection$"):
        mirrors.download("http://127.0.0.1:9/x", "0" * 32, tmp_path)


def test_missing_pooch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(MissingExtra, match=r"pip install 'lossyfl\[sim\]'"):
        mirrors.download("http://127.0.0.1:9/x", "0" * 32, tmp_path)
