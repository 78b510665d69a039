"""A short run of the kernels' fuzzer; `make fuzz` has the long one."""

import shutil
import subprocess
import sys

import pytest

COMPILER = next((name for name in ("gcc", "cc") if shutil.which(name)), None)


@pytest.mark.skipif(COMPILER is None, reason="no compiler with sanitizers")
def test_kernels_touch_only_what_they_are_given() -> None:
    assert COMPILER
    options = ["--compiler", COMPILER, "--runs", "50000", "--vectors", "30"]
    command = [sys.executable, "-m", "tests.kernels.fuzz", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "50000 calls, nothing found" in done.stdout
