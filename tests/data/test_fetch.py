"""Fetching with sources that are plain functions."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.data.small import SMALL_FASHION, SMALL_MNIST, same

from lossyfl.data import Dataset, load
from lossyfl.data.fetch import FetchError, fetch
from lossyfl.data.sources import SOURCES, DatasetSource, SourceError
from lossyfl.errors import InputError

pytestmark = pytest.mark.usefixtures("small_sets")


def source(title: str, get: Callable[[], Dataset]) -> DatasetSource:
    def into(_name: str, folder: Path) -> Dataset:
        (folder / "archive").write_text("as a download would be")
        return get()

    return DatasetSource(title=title, get=into)


def failing(error: BaseException, title: str = "broken") -> DatasetSource:
    def get() -> Dataset:
        raise error

    return source(title, get)


GOOD = source("good", lambda: SMALL_MNIST.dataset)
WRONG = source("wrong", lambda: SMALL_FASHION.dataset)


class TestFetch:
    def test_stored_checked_and_nothing_else_left(self, tmp_path: Path) -> None:
        said: list[str] = []
        target = fetch("mnist", tmp_path / "new/root", say=said.append, sources=[GOOD])
        assert target is not None
        assert target == tmp_path / "new/root/mnist"
        assert [path.name for path in target.parent.iterdir()] == ["mnist"]
        assert sorted(path.name for path in target.iterdir()) == sorted(
            SMALL_MNIST.facts.layouts[0].first_names
        )
        assert same(load("mnist", target.parent), SMALL_MNIST.dataset)
        assert said == [
            "mnist: trying good",
            "mnist: 17 images, sums as they should be",
            f"mnist: stored in {target}",
        ]

    def test_default_root_is_where_load_searches(
        self, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert fetch("mnist", sources=[GOOD]) == cache / "mnist"
        monkeypatch.setenv("LOSSYFL_DATA", str(tmp_path / "variable"))
        assert fetch("mnist", sources=[GOOD]) == tmp_path / "variable/mnist"
        load("mnist")

    def test_next_source_is_tried(self, tmp_path: Path) -> None:
        broken = [failing(SourceError("no")), failing(OSError(5, "x")), failing(ValueError("md5"))]
        fetch("mnist", tmp_path, sources=[*broken, WRONG, GOOD])
        assert same(load("mnist", tmp_path), SMALL_MNIST.dataset)

    def test_what_is_here_is_not_fetched(self, tmp_path: Path) -> None:
        SMALL_MNIST.write(tmp_path / "MNIST/raw")
        said: list[str] = []
        assert fetch("mnist", tmp_path, say=said.append, sources=[]) == tmp_path / "MNIST/raw"
        assert said == [f"mnist: already in {tmp_path / 'MNIST/raw'}"]

    @pytest.mark.parametrize("place", ["mnist", "MNIST/raw", "."])
    def test_damaged_and_missing_files_are_replaced(self, place: str, tmp_path: Path) -> None:
        files = SMALL_MNIST.write(tmp_path / place)
        files[0].write_bytes(b"damaged")
        (tmp_path / place / "notes.txt").write_text("mine")
        fetch("mnist", tmp_path, sources=[GOOD])
        assert same(load("mnist", tmp_path), SMALL_MNIST.dataset)
        assert (tmp_path / place / "notes.txt").read_text() == "mine"

    def test_digits_come_with_a_package(self) -> None:
        said: list[str] = []
        assert fetch("digits", say=said.append) is None
        assert said == ["digits: comes with scikit-learn, nothing to fetch"]

    def test_every_other_set_has_sources(self) -> None:
        assert {name: len(sources) for name, sources in SOURCES.items()} == {
            "mnist": 4,
            "fashion-mnist": 3,
            "cifar10": 2,
            "qmnist": 1,
            "shakespeare": 2,
        }


class TestFailure:
    def test_one_error_with_every_attempt(self, tmp_path: Path) -> None:
        long = failing(SourceError("a" * 500 + "\nb"), "long")
        with pytest.raises(FetchError) as caught:
            fetch("mnist", tmp_path, sources=[failing(SourceError("no connection")), WRONG, long])
        head, broken, wrong, cut, advice = str(caught.value).splitlines()
        assert head == "mnist could not be fetched:"
        assert broken == "  broken: no connection"
        assert wrong.startswith("  wrong: train_x of mnist in wrong must be the known array")
        assert len(cut) < 220
        assert "t10k-labels-idx1-ubyte.gz into" in advice
        assert advice.endswith("or set LOSSYFL_DATA to a folder that holds mnist/")
        assert list(tmp_path.iterdir()) == []

    def test_interrupt_leaves_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(KeyboardInterrupt):
            fetch("mnist", tmp_path, sources=[failing(KeyboardInterrupt())])
        assert list(tmp_path.iterdir()) == []

    def test_folder_that_cannot_be_written(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        with pytest.raises(InputError, match="folder of data fetch must be writable, got"):
            fetch("mnist", tmp_path / "file" / "root", sources=[GOOD])


def test_importing_sources_loads_nothing_heavy() -> None:
    heavy = "{'pooch', 'PIL', 'zstandard', 'sklearn', 'requests'}"
    code = f"import sys, lossyfl.data.fetch; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"
