"""Into which folder a run goes, and with which settings of its own."""

from dataclasses import replace
from pathlib import Path

import pytest

from lossyfl import InputError
from lossyfl.results.directory import Results
from lossyfl.results.experiment import Experiment
from lossyfl.simulation import run as module
from lossyfl.simulation.given import Given
from lossyfl.simulation.run import resume, run
from lossyfl.simulation.setup import Setup, prepare

BASE = Experiment(task="tests.simulation.tiny:make_task")


@pytest.mark.parametrize("workers", [0, -1, 1.5])
def test_workers_are_counted(workers: int, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="workers of a run must be an int >= 1"):
        run(BASE, tmp_path / "out", workers=workers)


def test_checkpoints_need_a_time(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="checkpoint_every of a run must be seconds, >= 0"):
        run(BASE, tmp_path / "out", checkpoint_every=float("nan"))


def test_updates_are_kept_of_rounds_that_the_run_has(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="save_updates of a run must be rounds from 0 to 5, got 6"):
        run(BASE, tmp_path / "out", save_updates=frozenset([2, 6]))
    assert not (tmp_path / "out").exists()


def test_two_processes_do_not_share_a_folder(tmp_path: Path) -> None:
    run(replace(BASE, rounds=2), tmp_path / "out")
    with (
        Results(tmp_path / "out").locked(),
        pytest.raises(InputError, match="no other run is going on"),
    ):
        resume(tmp_path / "out", rounds=5)


class TestFolder:
    def test_a_run_is_not_overwritten(self, tmp_path: Path) -> None:
        run(BASE, tmp_path / "out")
        before = Results(tmp_path / "out").model.read_bytes()
        with pytest.raises(
            InputError, match="must be a new folder, or with --force, or `lossyfl resume"
        ):
            run(replace(BASE, seed=1), tmp_path / "out")
        assert Results(tmp_path / "out").model.read_bytes() == before
        run(replace(BASE, seed=1), tmp_path / "out", force=True)
        assert Results(tmp_path / "out").model.read_bytes() != before

    def test_a_run_without_a_round_is_nothing_to_lose(self, tmp_path: Path) -> None:
        """A quantizer that cannot be so exact ends a run in its first broadcast; the next one may begin."""
        with pytest.raises(InputError, match=r"an nmse of .* or more for this vector"):
            run(replace(BASE, scheme="lean:up=topk,up_budget=nmse=1e-5"), tmp_path / "out")
        assert Results(tmp_path / "out").config.is_file()
        run(BASE, tmp_path / "out")
        assert Results(tmp_path / "out").model.is_file()

    def test_with_force_only_runs_are_removed(self, tmp_path: Path) -> None:
        (tmp_path / "thesis.tex").write_text("precious")
        with pytest.raises(InputError, match="must be a new folder, or one that a run made"):
            run(BASE, tmp_path, force=True)
        assert (tmp_path / "thesis.tex").read_text() == "precious"
        with pytest.raises(InputError, match="out of a run must be a folder"):
            run(BASE, tmp_path / "thesis.tex", force=True)
        with pytest.raises(InputError, match="must be a folder that can be made and written"):
            run(BASE, tmp_path / "thesis.tex" / "out")

    def test_with_force_only_what_a_run_wrote_is_removed(self, tmp_path: Path) -> None:
        (tmp_path / "config.toml").write_text('title = "a site of mine"')
        with pytest.raises(InputError, match="must be a new folder, or one that a run made"):
            run(BASE, tmp_path, force=True)
        run(BASE, tmp_path / "out")
        (tmp_path / "out" / "notes.md").write_text("precious")
        run(BASE, tmp_path / "out", force=True)
        assert (tmp_path / "out" / "notes.md").read_text() == "precious"

    def test_a_run_that_was_quicker_is_not_removed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def slow_prepare(asked: Experiment, data_dir: Path | None, given: Given) -> Setup:
            monkeypatch.undo()
            run(replace(BASE, seed=9), tmp_path / "out")
            return prepare(asked, data_dir, given)

        monkeypatch.setattr(module, "prepare", slow_prepare)
        with pytest.raises(InputError, match="must be a new folder"):
            run(BASE, tmp_path / "out")
        assert Results(tmp_path / "out").read_config().seed == 9

    def test_the_current_folder_and_links(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "real")
        run(BASE, tmp_path / "link")
        monkeypatch.chdir(tmp_path / "real")
        run(BASE, Path(), force=True)
        assert Results(tmp_path / "real").model.exists()

    def test_a_bad_setting_does_not_remove_the_old_run(self, tmp_path: Path) -> None:
        run(BASE, tmp_path / "out")
        with pytest.raises(InputError):
            run(replace(BASE, batch=500), tmp_path / "out", force=True)
        assert Results(tmp_path / "out").model.exists()

    def test_a_run_that_goes_on_is_not_removed(self, tmp_path: Path) -> None:
        run(BASE, tmp_path / "out")
        with (
            Results(tmp_path / "out").locked(),
            pytest.raises(InputError, match="no other run is going on"),
        ):
            run(BASE, tmp_path / "out", force=True)
        assert Results(tmp_path / "out").model.exists()
