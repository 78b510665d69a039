"""What is attacked is what is installed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.fuzz.instrument import Branches

import lossyfl.kernels
from lossyfl.kernels import native

INSTRUMENTED = """
import json
from tests.fuzz.instrument import Branches

branches = Branches()
branches.watch("lossyfl")
import lossyfl.kernels
from lossyfl.kernels import native

paths = list(lossyfl.kernels.__path__)
print(json.dumps({"native": native.LIBRARY is not None, "paths": paths, "places": branches.places}))
"""


def test_marked_modules_call_the_native_kernels() -> None:
    """From an editable install too, where the library lies beside other files than the sources."""
    command = [sys.executable, "-W", "ignore", "-c", INSTRUMENTED]
    root = Path(__file__).parents[2]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=root)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert seen["native"] == (native.LIBRARY is not None)
    assert seen["paths"] == list(lossyfl.kernels.__path__)
    assert any(Path(place).name.startswith("native.py:") for place in seen["places"])


def test_other_packages_are_found_as_always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    Branches().watch("lossyfl")
    finder = sys.meta_path[0]
    assert finder.find_spec("json", None) is None
    assert finder.find_spec("lossyfl.no_such_module", list(lossyfl.__path__)) is None
