"""Unpacked arrays that are kept for the next time."""

import os
from pathlib import Path

import numpy as np
import pytest
from tests.data.small import SMALL_CIFAR, SMALL_MNIST, same, write_xz

from lossyfl.data import decoded, load
from lossyfl.data.places import locate
from lossyfl.errors import InputError

FACTS = SMALL_CIFAR.facts

pytestmark = pytest.mark.usefixtures("small_sets")


@pytest.fixture
def files(tmp_path: Path, small_sets: None) -> list[Path]:  # noqa: ARG001
    """The xz files of a small CIFAR-10, loaded once."""
    files = write_xz(tmp_path / "data/cifar10")
    assert same(load("cifar10", tmp_path / "data"), SMALL_CIFAR.dataset)
    return files


def recalled(tmp_path: Path) -> bool:
    """Whether the kept arrays are used; if they are, they are right."""
    kept = decoded.recall(FACTS, locate(FACTS, tmp_path / "data"))
    assert kept is None or same(kept, SMALL_CIFAR.dataset)
    return kept is not None


@pytest.mark.usefixtures("files")
class TestRecall:
    def test_files_are_not_decoded_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert recalled(tmp_path)
        monkeypatch.setattr("lossyfl.data.loading.read", None)  # a call would fail
        again = load("cifar10", tmp_path / "data")
        assert same(again, SMALL_CIFAR.dataset)
        assert all(array.flags.writeable for array in again.arrays)

    def test_touched_files_are_read_anew(self, tmp_path: Path, files: list[Path]) -> None:
        os.utime(files[3], ns=(1, 1))
        assert not recalled(tmp_path)
        load("cifar10", tmp_path / "data")
        assert recalled(tmp_path)

    def test_damaged_files_are_noticed(self, tmp_path: Path, files: list[Path]) -> None:
        files[3].write_bytes(files[3].read_bytes()[:-9])
        with pytest.raises(InputError, match="must be whole xz data"):
            load("cifar10", tmp_path / "data")

    @pytest.mark.parametrize("damage", ["flip", "cut", "empty", "zip", "other", "gone", "fortran"])
    def test_damaged_arrays_are_not_used(self, damage: str, tmp_path: Path, cache: Path) -> None:
        (kept,) = (cache / "decoded").glob("cifar10-train_x-*.npy")
        whole = kept.read_bytes()
        kinds = {
            "flip": whole[:-1] + bytes([whole[-1] ^ 1]),
            "cut": whole[:-1],
            "empty": b"",
            "zip": b"PK\x03\x04" + bytes(100),
            "other": whole.replace(b"'|u1'", b"'|i1'"),
            "fortran": whole.replace(b"'fortran_order': False", b"'fortran_order': True "),
        }
        if damage == "gone":
            kept.unlink()
        else:
            kept.write_bytes(kinds[damage])
        assert not recalled(tmp_path)
        assert same(load("cifar10", tmp_path / "data"), SMALL_CIFAR.dataset)
        assert recalled(tmp_path)
        assert kept.read_bytes() == whole

    def test_pickles_are_not_read(self, tmp_path: Path, cache: Path) -> None:
        (kept,) = (cache / "decoded").glob("cifar10-train_y-*.npy")
        np.save(kept, np.array([{}], dtype=object), allow_pickle=True)
        assert not recalled(tmp_path)


class TestKeep:
    def test_quick_sets_are_not_kept(self, tmp_path: Path, cache: Path) -> None:
        SMALL_MNIST.write(tmp_path / "mnist")
        SMALL_CIFAR.write(tmp_path / "cifar10")
        load("mnist", tmp_path)
        load("cifar10", tmp_path)
        assert not cache.exists()

    def test_a_cache_that_cannot_be_written_is_no_error(self, tmp_path: Path, cache: Path) -> None:
        cache.parent.write_text("a file where a folder should be")
        write_xz(tmp_path / "data/cifar10")
        for _ in range(2):
            assert same(load("cifar10", tmp_path / "data"), SMALL_CIFAR.dataset)

    def test_damaged_data_are_not_kept(self, tmp_path: Path, cache: Path) -> None:
        files = write_xz(tmp_path / "data/cifar10")
        files[0].write_bytes(files[1].read_bytes())
        with pytest.raises(InputError, match="train_x of cifar10"):
            load("cifar10", tmp_path / "data")
        assert not cache.exists()

    def test_stamp_comes_last(
        self, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A disk that fills up after two arrays leaves nothing that would be used."""
        left = iter([True, True])
        real = decoded.write_atomically

        def write(path: Path, pieces: list[bytes]) -> None:
            if not next(left, False):
                raise OSError(28, "No space left on device")
            real(path, pieces)

        monkeypatch.setattr(decoded, "write_atomically", write)
        write_xz(tmp_path / "data/cifar10")
        load("cifar10", tmp_path / "data")
        assert len(list((cache / "decoded").iterdir())) == 2
        assert not recalled(tmp_path)
