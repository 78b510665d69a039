"""What a results directory holds."""

import gzip
import itertools
import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tests.crash.points import Point, Saboteur

from lossyfl import InputError
from lossyfl.files import disk
from lossyfl.results.directory import Results, is_locked
from lossyfl.results.experiment import Experiment
from lossyfl.results.records import packed, read_rounds
from lossyfl.simulation.run import resume, run
from lossyfl.simulation.setup import prepare

BASE = Experiment(task="tests.simulation.tiny:make_task", rounds=5)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("results") / "out"
    run(BASE, out)
    return out


def test_files(folder: Path) -> None:
    names = {path.name for path in folder.iterdir()}
    assert names == {
        ".lock", "checkpoint", "config.toml", "ledger.csv", "model.safetensors", "rounds.jsonl",
        "run.json",
    }  # fmt: skip


def test_rounds_of_older_versions_are_told_as_they_were_sent(tmp_path: Path) -> None:
    """Where only participants listened each was sent its own, which is in the ledger only."""
    run(replace(BASE, participation=0.3, listen="participants"), tmp_path)
    results = Results(tmp_path)
    whole = read_rounds(results.rounds)
    assert results.rounds_as_sent() == whole
    older = [replace(record, copies=None) for record in whole]
    results.rounds.write_text("".join(record.line() for record in older))
    assert read_rounds(results.rounds) == older
    for found, record in zip(results.rounds_as_sent(), whole, strict=True):
        assert found.handed.raw == record.handed.raw == 3 * 4 * 110
        assert found.handed.nbytes == record.handed.nbytes == record.down.unicast
        assert found.handed.catch_up == record.handed.catch_up
        assert found.handed.paper == pytest.approx(record.handed.paper)


def test_config_repeats_the_run(folder: Path, tmp_path: Path) -> None:
    run(Results(folder).read_config(), tmp_path / "again")
    for name in ("config.toml", "model.safetensors", "ledger.csv"):
        assert (tmp_path / "again" / name).read_bytes() == (folder / name).read_bytes()


def test_run_json_says_on_what_and_how_it_ended(folder: Path) -> None:
    about = json.loads((folder / "run.json").read_text())
    assert about["state"] == "done"
    assert about["summary"]["rounds"] == 5
    assert {"torch", "numpy", "lossyfl", "python", "processor"} <= about["machine"].keys()


def test_the_model_loads_into_torch(folder: Path) -> None:
    module = prepare(BASE).task.model()
    module.load_state_dict(load_file(folder / "model.safetensors"))
    task = prepare(BASE).task
    outputs = module(task.prepare(torch.from_numpy(task.test.x)))
    accuracy = float(np.mean(outputs.argmax(dim=1).numpy() == task.test.y))
    assert accuracy == read_rounds(folder / "rounds.jsonl")[-1].accuracy


@pytest.mark.parametrize("name", [f".config.toml.{'0' * 16}.tmp", ".config.toml.a1b2c3d_"])
def test_killed_while_settings_are_first_written_another_run_takes_the_folder(
    name: str, tmp_path: Path
) -> None:
    for file in (".lock", name):
        (tmp_path / file).touch()
    with pytest.raises(
        InputError, match=r"with a config\.toml \(without one, begin: lossyfl run\)"
    ):
        resume(tmp_path)
    run(BASE, tmp_path, force=True)
    assert "done" in (tmp_path / "run.json").read_text()
    assert not (tmp_path / name).exists()


def test_killed_while_a_run_is_replaced_another_one_takes_the_folder(
    folder: Path, tmp_path: Path
) -> None:
    """At any step of it: the settings, which say whose folder it is, go last."""
    for steps in itertools.count():
        out = Results(shutil.copytree(folder, tmp_path / str(steps)))
        try:
            with disk.watched(Saboteur(Point(steps, "error"))):
                out.clear()
                out.write_config(BASE)
        except (OSError, InputError):
            out.check_free(force=True)
        else:
            assert steps > 10
            return


def test_a_run_whose_rounds_were_packed_is_not_replaced_unless_forced(
    folder: Path, tmp_path: Path
) -> None:
    out = Results(shutil.copytree(folder, tmp_path / "packed"))
    shutil.rmtree(out.checkpoint)
    packed(out.rounds).write_bytes(gzip.compress(out.rounds.read_bytes()))
    out.rounds.unlink()
    with pytest.raises(InputError, match="a new folder, or with --force"):
        out.check_free(force=False)
    out.check_free(force=True)
    out.clear()
    assert not out.has_rounds


def test_a_foreign_folder_is_not_taken(tmp_path: Path) -> None:
    for name in (".config.toml.swp", "config.toml.bak", f".other.{'0' * 16}.tmp"):
        folder = tmp_path / name.strip(".")
        folder.mkdir()
        (folder / name).touch()
        with pytest.raises(InputError, match="a new folder, or one that a run made"):
            run(BASE, folder, force=True)


def test_a_linked_lock_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("kept")
    out = tmp_path / "out"
    out.mkdir()
    (out / ".lock").symlink_to(victim)
    with pytest.raises(InputError, match="a folder that can be made and written"):
        run(BASE, out)
    assert victim.read_text() == "kept"
    assert not is_locked(out)


def test_leftovers_of_killed_processes_are_removed_by_a_resume(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(BASE, out)
    left = [
        out / f".run.json.{'0' * 16}.tmp",
        out / "checkpoint" / f".state.safetensors.{'1' * 16}.tmp",
    ]
    for path in left:
        path.touch()
    (out / ".mine.tmp").touch()
    resume(out, rounds=6)
    assert not any(path.exists() for path in left)
    assert (out / ".mine.tmp").exists()
