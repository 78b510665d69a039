"""Where files are looked for."""

from pathlib import Path

import pytest
from tests.data.small import SMALL_CIFAR, SMALL_FASHION, SMALL_MNIST, Small

from lossyfl.data.places import cache_root, find, locate, root
from lossyfl.errors import InputError

MNIST, FASHION, CIFAR = SMALL_MNIST.facts, SMALL_FASHION.facts, SMALL_CIFAR.facts

pytestmark = pytest.mark.usefixtures("small_sets")


class TestRoot:
    def test_argument_then_variable_then_cache(
        self, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert root() == cache
        monkeypatch.setenv("LOSSYFL_DATA", str(tmp_path / "variable"))
        assert root() == tmp_path / "variable"
        assert root(tmp_path / "argument") == tmp_path / "argument"

    def test_only_one_root_is_looked_at(
        self, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        SMALL_MNIST.write(cache / "mnist")
        assert find(MNIST) is not None
        (tmp_path / "empty").mkdir()
        assert find(MNIST, tmp_path / "empty") is None
        monkeypatch.setenv("LOSSYFL_DATA", str(tmp_path / "empty"))
        assert find(MNIST) is None
        assert find(MNIST, cache) is not None

    def test_home(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("XDG_CACHE_HOME", "relative/is/not/valid")
        assert cache_root() == tmp_path / ".cache" / "lossyfl"
        monkeypatch.delenv("XDG_CACHE_HOME")
        assert cache_root() == tmp_path / ".cache" / "lossyfl"
        assert root(Path("~/data")) == tmp_path / "data"


class TestFind:
    @pytest.mark.parametrize(
        ("small", "place"),
        [
            *((SMALL_MNIST, place) for place in ("mnist", "MNIST/raw", "MNIST", ".", "raw")),
            (SMALL_FASHION, "fashion-mnist"),
            (SMALL_FASHION, "FashionMNIST/raw"),
            (SMALL_CIFAR, "cifar10"),
            (SMALL_CIFAR, "cifar-10-batches-bin"),
            (SMALL_CIFAR, "."),
        ],
    )
    def test_usual_folders(self, small: Small, place: str, tmp_path: Path) -> None:
        files = small.write(tmp_path / place)
        found = locate(small.facts, tmp_path)
        assert list(found.files) == files
        assert found.nbytes == sum(file.stat().st_size for file in files)

    def test_own_folder_comes_first(self, tmp_path: Path) -> None:
        for place in (".", "MNIST/raw", "mnist"):
            SMALL_MNIST.write(tmp_path / place)
        assert locate(MNIST, tmp_path).folder == tmp_path / "mnist"

    def test_a_whole_set_wins_over_a_part(self, tmp_path: Path) -> None:
        SMALL_MNIST.write(tmp_path / "mnist")[1].unlink()
        SMALL_MNIST.write(tmp_path / "MNIST/raw")
        assert locate(MNIST, tmp_path).folder == tmp_path / "MNIST/raw"

    def test_mnist_is_not_taken_for_fashion(self, tmp_path: Path) -> None:
        """Both have the same file names; a folder without a name must not make one the other."""
        SMALL_MNIST.write(tmp_path)
        assert find(MNIST, tmp_path) is not None
        assert find(FASHION, tmp_path) is None


class TestMissing:
    def test_nothing_there(self, cache: Path) -> None:
        with pytest.raises(InputError) as caught:
            locate(MNIST)
        said = str(caught.value)
        assert f"files of mnist must be in {cache}, below it in one of mnist, MNIST/raw" in said
        assert "none of train-images-idx3-ubyte.gz, train-labels" in said
        assert said.endswith("to get them: lossyfl data fetch mnist")

    def test_some_there(self, tmp_path: Path) -> None:
        SMALL_CIFAR.write(tmp_path / "cifar10")[2].unlink()
        with pytest.raises(InputError, match=r"got no data_batch_3.bin in .*cifar10; to get them"):
            locate(CIFAR, tmp_path)

    def test_command_names_the_folder(self, tmp_path: Path) -> None:
        with pytest.raises(InputError, match=f"data fetch mnist --data-dir {tmp_path}"):
            locate(MNIST, tmp_path)

    def test_variable_is_named(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("LOSSYFL_DATA", str(tmp_path))
        with pytest.raises(InputError, match=rf"in {tmp_path} \(from \$LOSSYFL_DATA\)"):
            locate(MNIST)

    def test_folder_that_does_not_exist(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with pytest.raises(InputError, match="folder of the data must be one that exists, got"):
            locate(MNIST, tmp_path / "no")
        monkeypatch.setenv("LOSSYFL_DATA", str(tmp_path / "no"))
        with pytest.raises(InputError, match=r"folder of \$LOSSYFL_DATA must be one that exists"):
            locate(MNIST)

    def test_folders_are_no_files(self, tmp_path: Path) -> None:
        for file in SMALL_MNIST.write(tmp_path / "mnist"):
            file.unlink()
            file.mkdir()
        assert find(MNIST, tmp_path) is None
