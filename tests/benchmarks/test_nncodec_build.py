"""A Python without NNCodec is refused in words; what fails on the way to one is said."""

import sys
from pathlib import Path

import pytest

from benchmarks import nncodec_build
from lossyfl.errors import InputError


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("python", ["none", "fails"])
def test_a_python_without_it_is_refused(tmp_path: Path, python: str) -> None:
    script(tmp_path / "fails", "exit 1")
    with pytest.raises(InputError, match=r"nncodec==2\.1\.3.*--build makes one"):
        nncodec_build.check(str(tmp_path / python))


def test_an_environment_that_works_is_not_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python = script(tmp_path / "bin" / "python", "exit 0")
    monkeypatch.setattr(sys, "executable", "no such program")
    assert nncodec_build.build(tmp_path) == str(python)


def test_a_step_that_fails_is_said_with_its_last_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = script(tmp_path / "venv", "echo one >&2; echo no registry >&2; exit 1")
    monkeypatch.setattr(sys, "executable", str(failing))
    with pytest.raises(InputError, match=r"a C\+\+ compiler, got no registry$"):
        nncodec_build.build(tmp_path / "new")
