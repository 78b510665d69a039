"""What a build asks the package registry for."""

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SOURCE = Path(__file__).parents[1] / "build_backend" / "lossyfl_build.py"
NONE = "ERROR: No matching distribution found for ziglang"


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The backend above one that asks for cmake, on a machine without a compiler, whose registry has all."""
    package, below = ModuleType("scikit_build_core"), ModuleType("scikit_build_core.build")
    for kind in ("wheel", "editable"):
        setattr(below, f"get_requires_for_build_{kind}", lambda _: ["cmake"])
    setattr(package, "build", below)  # noqa: B010 - types know of no such attribute
    monkeypatch.setitem(sys.modules, package.__name__, package)
    monkeypatch.setitem(sys.modules, below.__name__, below)
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    answer(monkeypatch, "")
    spec = importlib.util.spec_from_file_location("lossyfl_build", SOURCE)
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def answer(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    """Let pip say this."""
    monkeypatch.setattr(
        subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1, "", said)
    )


@pytest.mark.parametrize("kind", ["wheel", "editable"])
def test_without_a_compiler_one_comes_from_the_registry(backend: ModuleType, kind: str) -> None:
    asked = getattr(backend, f"get_requires_for_build_{kind}")
    assert asked() == ["cmake", "ziglang>=0.13"]


def test_a_compiler_is_enough(backend: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "cc")
    assert backend.get_requires_for_build_wheel() == ["cmake"]


def test_a_registry_without_a_compiler_leaves_the_references(
    backend: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else pip would not install lossyfl at all."""
    answer(monkeypatch, NONE)
    assert backend.get_requires_for_build_wheel() == ["cmake"]


def test_a_pip_that_is_not_there_is_not_believed(
    backend: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(monkeypatch, "No module named pip")
    assert backend.get_requires_for_build_wheel() == ["cmake", "ziglang>=0.13"]


def test_references_that_are_asked_for_need_nothing(backend: ModuleType) -> None:
    assert backend.get_requires_for_build_wheel({"wheel.cmake": "false"}) == ["cmake"]
