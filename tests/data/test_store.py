"""Data sets are stored whole or not at all."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.data.small import SMALL_MNIST, same

from lossyfl.data import load, store
from lossyfl.data.fetch import FetchError, fetch
from lossyfl.data.sources import DatasetSource
from lossyfl.errors import InputError

pytestmark = pytest.mark.usefixtures("small_sets")

FACTS, DATASET = SMALL_MNIST.facts, SMALL_MNIST.dataset
GOOD = DatasetSource(title="good", get=lambda *_: DATASET)


def test_a_new_set_and_one_with_a_damaged_file(tmp_path: Path) -> None:
    place = tmp_path / "mnist"
    for _ in range(2):
        with store.staging(FACTS, tmp_path) as stage:
            stored = store.store(DATASET, FACTS, stage=stage, root=tmp_path)
        assert stored == place
        assert [path.name for path in tmp_path.iterdir()] == ["mnist"]
        assert same(load("mnist", tmp_path), DATASET)
        next(place.iterdir()).write_bytes(b"damaged")
        (place / "notes.txt").write_text("mine")
    assert (place / "notes.txt").read_text() == "mine"


def test_a_root_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    allowed = "folder of data fetch must be writable"
    with pytest.raises(InputError, match=allowed), store.staging(FACTS, tmp_path / "file/root"):
        pass


def test_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, written = store.write_atomically, list[Path]()

    def write(path: Path, pieces: list[bytes]) -> None:
        if len(written) == 2:
            raise OSError(28, "No space left on device")
        real(path, pieces)
        written.append(path)

    monkeypatch.setattr(store, "write_atomically", write)
    with pytest.raises(FetchError, match=r"could not be stored in .*: No space left on device"):
        fetch("mnist", tmp_path, sources=[GOOD])
    assert len(written) == 2
    assert list(tmp_path.iterdir()) == []


KILLED = """
import os, signal, sys
from pathlib import Path
from tests.data.small import SMALL_MNIST
from lossyfl.data import store
root, real, written = Path(sys.argv[1]), store.write_atomically, []
def write(path, pieces):
    real(path, pieces)
    written.append(path)
    if len(written) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
store.write_atomically = write
with store.staging(SMALL_MNIST.facts, root) as stage:
    store.store(SMALL_MNIST.dataset, SMALL_MNIST.facts, stage=stage, root=root)
"""


def test_half_a_set_is_never_seen_and_swept_later(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", KILLED, tmp_path], cwd=root, check=False)
    assert done.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".fetch-mnist-")
    fetch("mnist", tmp_path, sources=[GOOD])
    assert left.exists()  # it might be another fetch at work
    (tmp_path / "mnist").rename(tmp_path / "away")
    os.utime(left, (0, 0))
    fetch("mnist", tmp_path, sources=[GOOD])
    assert not left.exists()
