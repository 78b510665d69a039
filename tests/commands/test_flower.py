"""`lossyfl flower clean`, as a user types it."""

import json
import os
import time
from pathlib import Path

import pytest
from click.testing import Result
from tests.adapters.test_folders import keep
from typer.testing import CliRunner

from lossyfl.commands.flower import app
from lossyfl.errors import InputError


def run(*arguments: str | Path) -> Result:
    done = CliRunner().invoke(app, ["clean", *map(str, arguments)])
    assert done.exit_code == 0, done.output
    return done


def test_what_is_there_goes_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOSSYFL_STATE", str(tmp_path))
    for training in range(2):
        for number in range(3):
            keep(tmp_path, training, number)
    (tmp_path / "photos").mkdir()
    assert "of 6 devices in 2 trainings would be removed" in run("--dry-run").output
    assert len(list(tmp_path.glob("*/*/current"))) == 6
    facts = json.loads(run("--json").output)
    assert (facts["devices"], facts["trainings"], facts["in_use"]) == (6, 2, 0)
    assert facts["bytes"] > 6 * 2 * 4000
    assert [path.name for path in tmp_path.iterdir()] == ["photos"]
    assert "0.0 MB of 0 devices" in run().output


def test_days_and_what_is_in_use(tmp_path: Path) -> None:
    old, new, used = (keep(tmp_path, number) for number in range(3))
    for store, days in ((old, 9), (new, 1), (used, 9)):
        for path in store.folder.iterdir():
            os.utime(path, (0, time.time() - 86400 * days))
    with used.locked():
        said = run(tmp_path, "--days", "5").output
    assert "1 devices are in use, and stay" in said
    assert not old.folder.exists()
    assert new.folder.exists()
    assert used.folder.exists()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    error = CliRunner().invoke(app, ["clean", str(tmp_path / "none")]).exception
    assert isinstance(error, InputError)
    assert "one that exists" in str(error)
