"""On what something ran."""

import platform
from importlib.metadata import PackageNotFoundError

import numpy as np
import pytest

from lossyfl.results import machine


def test_processor_cores_and_versions() -> None:
    said = machine.describe()
    assert said["numpy"] == np.__version__
    assert said["python"] == platform.python_version()
    assert int(said["cores"]) >= 1
    assert platform.machine() in said["system"]
    assert all(isinstance(value, str) for value in said.values())


def test_a_package_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def version(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(machine, "version", version)
    assert machine.describe()["torch"] == "not installed"
