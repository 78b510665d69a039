"""`lossyfl data`, as a user types it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import Result
from tests.data.conftest import cache as cache
from tests.data.conftest import small_sets as small_sets
from tests.data.small import SMALL_CIFAR, SMALL_FASHION, SMALL_MNIST, SMALL_PLAYS, SMALL_QMNIST
from typer.testing import CliRunner

from lossyfl.commands.data import app
from lossyfl.data.sources import DatasetSource, SourceError
from lossyfl.errors import InputError

pytestmark = pytest.mark.usefixtures("cache", "small_sets")


def run(*arguments: str | Path, code: int = 0) -> Result:
    done = CliRunner().invoke(app, [*map(str, arguments)])
    assert done.exit_code == code, done.output
    return done


def refused(*arguments: str | Path) -> str:
    error = CliRunner().invoke(app, [*map(str, arguments)]).exception
    assert isinstance(error, InputError)
    return str(error)


class TestList:
    def test_table(self, tmp_path: Path) -> None:
        SMALL_MNIST.write(tmp_path / "mnist")
        said = run("list", "--data-dir", tmp_path).output
        assert "not here (lossyfl data fetch cifar10)" in said
        assert "scikit-learn" in said
        assert str(tmp_path / "mnist")[:20] in said
        assert "3 x 32 x 32" in said

    def test_json(self, tmp_path: Path) -> None:
        SMALL_MNIST.write(tmp_path / "mnist")
        rows = json.loads(run("list", "--json", "--data-dir", tmp_path).output)
        assert [row["name"] for row in rows] == [
            "digits", "mnist", "fashion-mnist", "cifar10", "qmnist", "shakespeare",
        ]  # fmt: skip
        assert rows[1]["place"] == str(tmp_path / "mnist")
        assert rows[2]["place"] is None

    def test_folder_that_does_not_exist(self, tmp_path: Path) -> None:
        assert "one that exists" in refused("list", "--data-dir", tmp_path / "no")


class TestCheck:
    def test_all_that_is_here(self, tmp_path: Path) -> None:
        SMALL_MNIST.write(tmp_path / "mnist")
        said = run("check", "--data-dir", tmp_path).output
        assert f"mnist: ok, 12 + 5 images in {tmp_path / 'mnist'}" in said
        assert "digits: ok, 1,437 + 360 images in scikit-learn" in said
        assert "cifar10: not here" in said

    def test_a_text_is_counted_in_characters(self, tmp_path: Path) -> None:
        SMALL_PLAYS.write(tmp_path / "shakespeare")
        count = f"{len(SMALL_PLAYS.dataset.arrays[0]):,}"
        said = run("check", "shakespeare", "--data-dir", tmp_path).output
        assert f"shakespeare: ok, {count} characters in {tmp_path / 'shakespeare'}" in said
        table = run("list", "--data-dir", tmp_path).output
        line = next(line for line in table.splitlines() if "shakespeare" in line)
        assert line.split()[:5] == ["shakespeare", count, "-", "-", "65"]

    def test_files_without_a_folder_of_their_own(self, tmp_path: Path) -> None:
        SMALL_FASHION.write(tmp_path)
        said = run("check", "--data-dir", tmp_path).output
        assert "fashion-mnist: ok" in said
        assert "\nmnist: not here" in said

    def test_damage(self, tmp_path: Path) -> None:
        SMALL_CIFAR.write(tmp_path / "cifar10")[4].write_bytes(b"x")
        SMALL_MNIST.write(tmp_path / "mnist")
        said = run("check", "--data-dir", tmp_path, code=2).output
        assert "mnist: ok" in said
        assert "data_batch_5.bin must be a multiple of 3,073 bytes, got 1 bytes" in said

    def test_half_a_set_is_damage(self, tmp_path: Path) -> None:
        SMALL_MNIST.write(tmp_path / "mnist")[0].unlink()
        said = run("check", "--data-dir", tmp_path, code=2).output
        assert "got no train-images-idx3-ubyte.gz in" in said

    def test_missing_counts_if_named(self, tmp_path: Path) -> None:
        said = run("check", "mnist", "--data-dir", tmp_path, code=2).output
        assert "mnist: files of mnist must be in" in said
        assert "cifar10" not in said

    def test_unknown_name(self) -> None:
        assert "did you mean cifar10?" in refused("check", "cifar")


class TestFetch:
    def test_one_failure_does_not_stop_the_others(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def nothing(_name: str, _folder: Path) -> None:
            raise SourceError("no connection")

        sources = {
            "mnist": [DatasetSource(title="mirror", get=nothing)],  # pyright: ignore[reportArgumentType]
            "fashion-mnist": [DatasetSource(title="mirror", get=lambda *_: SMALL_FASHION.dataset)],
            "cifar10": [DatasetSource(title="mirror", get=lambda *_: SMALL_CIFAR.dataset)],
            "qmnist": [DatasetSource(title="mirror", get=lambda *_: SMALL_QMNIST.dataset)],
            "shakespeare": [DatasetSource(title="mirror", get=lambda *_: SMALL_PLAYS.dataset)],
        }
        monkeypatch.setattr("lossyfl.data.sources.SOURCES", sources)
        done = run("fetch", "all", "--data-dir", tmp_path, code=2)
        assert done.stdout == ""
        assert "lossyfl: mnist could not be fetched:\n  mirror: no connection" in done.stderr
        assert sorted(path.name for path in tmp_path.iterdir()) == [
            "cifar10", "fashion-mnist", "qmnist", "shakespeare",
        ]  # fmt: skip
        run("fetch", "cifar10", "fashion-mnist", "--data-dir", tmp_path)
        run("check", "cifar10", "fashion-mnist", "--data-dir", tmp_path)

    def test_a_name_is_needed(self) -> None:
        assert "Missing argument" in run("fetch", code=2).output

    def test_unknown_name_stops_before_any_work(self, tmp_path: Path) -> None:
        assert "did you mean mnist?" in refused("fetch", "digits", "mnits", "--data-dir", tmp_path)


def test_importing_the_commands_loads_nothing_heavy() -> None:
    heavy = "{'numpy', 'rich.table', 'sklearn', 'pooch', 'lossyfl.data'}"
    code = f"import sys, lossyfl.commands.data; print({heavy} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "set()"
