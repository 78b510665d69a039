"""What is there, and whether it is right."""

import os
from pathlib import Path

import pytest
from tests.data.small import SMALL_MNIST, write_xz

from lossyfl.data import load
from lossyfl.data.status import check, status
from lossyfl.errors import InputError

pytestmark = pytest.mark.usefixtures("small_sets")


def test_there(tmp_path: Path) -> None:
    files = SMALL_MNIST.write(tmp_path / "mnist")
    state = status("mnist", tmp_path)
    assert state.place == str(tmp_path / "mnist")
    assert state.nbytes == sum(file.stat().st_size for file in files)
    assert (state.train, state.test, state.shape, state.classes) == (12, 5, (1, 28, 28), 10)
    assert (state.hint, state.partly) == ("", False)
    check("mnist", tmp_path)


def test_not_there() -> None:
    state = status("mnist")
    assert (state.place, state.nbytes, state.partly) == (None, 0, False)
    assert state.hint == "lossyfl data fetch mnist"
    with pytest.raises(InputError, match="files of mnist"):
        check("mnist")


def test_partly_there(tmp_path: Path) -> None:
    SMALL_MNIST.write(tmp_path / "mnist")[0].unlink()
    state = status("mnist", tmp_path)
    assert (state.place, state.partly) == (None, True)
    assert state.hint == f"no train-images-idx3-ubyte.gz in {tmp_path / 'mnist'}"


def test_digits_need_a_package_only() -> None:
    assert status("digits").place == "scikit-learn"
    check("digits")


def test_without_scikit_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    state = status("digits")
    assert (state.place, state.hint) == (None, "pip install 'lossyfl[sim]'")


def test_check_reads_past_the_cache(tmp_path: Path) -> None:
    file = write_xz(tmp_path / "cifar10")[0]
    load("cifar10", tmp_path)
    times = file.stat()
    content = file.read_bytes()
    file.write_bytes(content[:-20] + bytes(20))
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    load("cifar10", tmp_path)  # the same name, size and time
    with pytest.raises(InputError, match="must be whole xz data"):
        check("cifar10", tmp_path)
