"""Runs and comparisons as calls: what is kept, what is not run again, and what goes wrong."""

import inspect
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from tests.simulation import tiny

import lossyfl
from lossyfl import InputError
from lossyfl.errors import Stopped
from lossyfl.results.directory import Results

TINY = "tests.simulation.tiny:make_task"


def stamp(folder: Path) -> int:
    return (folder / "model.safetensors").stat().st_mtime_ns


def test_a_run_without_a_folder_leaves_nothing_behind() -> None:
    result = lossyfl.run(task=TINY, rounds=2, progress=False)
    folder = result.folder
    assert result.ledger.total("up").frames == 20
    assert result.finished
    del result
    assert not folder.exists()


def test_what_is_complete_is_not_run_again(tmp_path: Path) -> None:
    out = str(tmp_path / "a")
    first = lossyfl.run(task=TINY, rounds=2, lr=0.1, out=out, progress=False)
    before = stamp(first.folder)
    again = lossyfl.run(task=TINY, rounds=2, lr=0.1, out=out, progress=False)
    assert stamp(again.folder) == before
    assert again.rounds == first.rounds
    more = lossyfl.run(task=TINY, rounds=3, lr=0.1, out=out, progress=False)
    assert more.rounds[:2] == first.rounds
    assert len(more.rounds) == 3
    with pytest.raises(InputError, match=r"lr of this comparison must be 0\.1, as in"):
        lossyfl.run(task=TINY, rounds=3, lr=0.2, out=out, progress=False)


def test_another_task_of_the_same_name_is_seen(tmp_path: Path) -> None:
    task = tiny.make_task()
    lossyfl.run(task=task, rounds=1, out=tmp_path, progress=False)
    lossyfl.run(task=tiny.make_task(), rounds=1, out=tmp_path, progress=False)
    other = replace(task, loss=tiny.slowly)
    with pytest.raises(InputError, match="task of this comparison must be object:tiny@"):
        lossyfl.run(task=other, rounds=1, out=tmp_path, progress=False)


def test_objects_are_compared_with_words(capsys: pytest.CaptureFixture[str]) -> None:
    by_hand = replace(lossyfl.scheme("lfl"), spec="", name="mine")
    made = lossyfl.compare(["lfl", by_hand], task=tiny.make_task, rounds=2, seeds=2)
    assert len(made) == 4
    one, two = made[0], made[1]
    assert one.summary.metrics == two.summary.metrics
    assert one.summary.down == two.summary.down
    assert "run 4/4, seed 1: tiny, object:mine@" in capsys.readouterr().out


def test_one_that_diverges_stops_no_other() -> None:
    made = lossyfl.compare(["lossless", "lb"], task=tiny.breaking(), rounds=3, progress=False)
    assert len(made.failed) == 2
    with pytest.raises(Stopped, match="training of device 3 diverged"):
        lossyfl.run(task=tiny.breaking(), rounds=3, progress=False)


def test_a_comparison_goes_on(tmp_path: Path) -> None:
    asked = {"task": TINY, "rounds": 2, "out": tmp_path, "progress": False}
    made = lossyfl.compare(["lossless", "lfl"], **asked)  # type: ignore[arg-type]
    before = [stamp(each.folder) for each in made]
    again = lossyfl.compare(["lossless", "lfl", "lb"], **asked)  # type: ignore[arg-type]
    assert [stamp(each.folder) for each in again][:2] == before
    assert Results(again["lb"].folder).state() == "done"


def temporary_folders() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob("lossyfl-*"))


def test_wrong_words_come_before_anything_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = temporary_folders()
    with pytest.raises(InputError, match=r"did you mean lfl\?"):
        lossyfl.compare(["lfll"], progress=False)
    assert temporary_folders() == before  # nor is a folder made
    with pytest.raises(InputError, match="scheme of compare must be left out"):
        lossyfl.compare(["lfl"], scheme="lb")  # type: ignore[call-arg]


def test_help_shows_all_settings() -> None:
    shown = inspect.signature(lossyfl.run).parameters
    assert {"out", "workers", "task", "lr", "down_budget", "evaluate_every"} <= set(shown)
    assert shown["evaluate_every"].default == 1
    assert "settings" not in shown
    assert "scheme" not in inspect.signature(lossyfl.compare).parameters


def test_tasks_are_handed_to_worker_processes() -> None:
    one = lossyfl.run(task=tiny.make_task(), rounds=2, progress=False)
    two = lossyfl.run(task=tiny.make_task(), rounds=2, workers=2, progress=False)
    assert one.summary.metrics == two.summary.metrics
    local = replace(tiny.make_task(), prepare=lambda x: x)
    with pytest.raises(InputError, match="prepare of the task tiny must be a function that can be"):
        lossyfl.run(task=local, rounds=2, workers=2, progress=False)
