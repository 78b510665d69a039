"""NNCodec in an environment of its own: it is a source distribution in C++, and wants a NumPy below 2."""

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

from lossyfl.errors import InputError

PACKAGE = "nncodec==2.1.3"
NEEDED = ("numpy<2", f"torch=={version('torch').partition('+')[0]}")
"""What its codec needs; it lists more, for examples with pictures (`nncodec_jobs`).
Torch as it is here: another may bring gigabytes for GPUs."""
JOBS = Path(__file__).with_name("nncodec_jobs.py")


def build(folder: Path) -> str:
    """The interpreter of an environment with NNCodec, which is made if it is not there."""
    python = str(folder.absolute() / "bin" / "python")
    if not works(python):
        _do(sys.executable, "-m", "venv", "--clear", str(folder))
        _do(python, "-m", "pip", "install", "--quiet", *NEEDED)
        _do(python, "-m", "pip", "install", "--quiet", "--no-deps", PACKAGE)
        check(python)
    return python


def check(python: str) -> None:
    """Raise if a Python does not have NNCodec."""
    if not works(python):
        allowed = f"a Python with {PACKAGE} and {NEEDED[0]}; --build makes one"
        raise InputError("python", of="bench nncodec", allowed=allowed, got=python)


def works(python: str) -> bool:
    """Whether a Python has NNCodec: its jobs begin."""
    try:
        done = subprocess.run(
            [python, "-P", str(JOBS)], input=b"", capture_output=True, check=False
        )
    except OSError:
        return False
    return done.returncode == 0


def _do(*command: str) -> None:
    """Do a step of the installation; raises with the last words of one that fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        allowed = f"a registry with {PACKAGE} and a C++ compiler"
        raise InputError("environment", of="bench nncodec", allowed=allowed, got=lines[-1])
