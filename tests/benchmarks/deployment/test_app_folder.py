"""The app that `flwr run` is given is one that Flower takes."""

import runpy
import tomllib
from pathlib import Path

import pytest
from flwr.cli.config_utils import load_and_validate

from benchmarks import flower_app as app
from benchmarks.deployment.app_folder import write_app
from lossyfl.results.experiment import KEYS


def test_flower_finds_nothing_wrong(tmp_path: Path) -> None:
    folder = write_app(tmp_path, "lossy_client")
    config, warnings = load_and_validate(folder / "pyproject.toml", check_module=False)
    assert (config["project"]["name"], warnings) == ("lossyfl-demo", [])


@pytest.mark.parametrize("client", ["lossy_client", "plain_client"])
def test_its_two_sides_are_ours(client: str, tmp_path: Path) -> None:
    package = write_app(tmp_path, client) / "lossyfl_demo"
    found = [
        runpy.run_path(str(package / f"{side}_app.py"))["app"] for side in ("client", "server")
    ]
    assert found == [getattr(app, client), app.server_app]


def test_every_setting_may_be_overridden(tmp_path: Path) -> None:
    """Flower refuses a key of `--run-config` that the app does not have."""
    text = (write_app(tmp_path, "lossy_client") / "pyproject.toml").read_text()
    config = tomllib.loads(text)["tool"]["flwr"]["app"]["config"]
    assert set(config) - {"participation", "timeout", "out"} <= set(KEYS)
    app.settings(config)
    assert {"out", "task", "scheme", "rounds", "devices", "seed"} <= set(config)


def test_it_may_be_written_again(tmp_path: Path) -> None:
    assert write_app(tmp_path, "lossy_client") == write_app(tmp_path, "lossy_client")
