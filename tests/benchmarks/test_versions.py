"""This version beside itself, and beside one that cannot do what is asked."""

import json
import sys
from pathlib import Path

import pytest
from rich.console import Console

from benchmarks import versions
from lossyfl.errors import InputError


def test_a_version_beside_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(versions, "TURNS", {1000: 3})
    monkeypatch.setattr(versions, "CODED", ("stochastic:levels=2", "no-such-quantizer"))
    monkeypatch.setattr(versions, "ROUNDS", ("lfl",))
    versions.run(sys.executable, tmp_path / "v.json", quick=False, console=Console())
    results = json.loads((tmp_path / "v.json").read_text())["results"]
    done = [each for each in results if not each["failed"]]
    assert [each["kind"] for each in done] == ["encode", "decode", "round"]
    assert all(each["ratio"] > 0 and each["best"] > 0 for each in done)
    failed = [each["failed"] for each in results if each["failed"]]
    assert len(failed) == 2
    assert all(text.startswith("this: InputError") for text in failed)
    assert "below 0.95 of the other's speed" in capsys.readouterr().out


def test_a_python_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a Python with lossyfl installed"):
        versions.run(str(tmp_path / "none"), None, quick=True, console=Console())


def test_a_process_that_ends_is_said(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    with versions.version(sys.executable) as here, versions.version(str(program)) as there:
        result = versions.measure(here, there, "encode", 100, "stochastic:levels=2")
    assert result.failed == "other: its process ended"
