"""Installs without the native library, or with one that is not theirs: a warning, and the same bytes."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from tests import bare

import lossyfl
from lossyfl.kernels import native

PROGRAM = """
import hashlib
import numpy as np
import lossyfl
x = np.random.default_rng(3).laplace(size=2000).astype(np.float32)
cases = [(x, name) for name in (
    "stochastic:levels=2", "stochastic:levels=300,scale=500", "deadzone:target=1bit", "rotated+dithered"
)]
for levels, scale, entries in (
    (1, "model", 700), (2, 64, 700), (50, 100, 300), (1000, "model", 400), (2, "model", 3), (2, "model", 1)
):
    cubes = (np.arange(entries, dtype=np.float32) - entries / 3) ** 3
    for first in (0, 1):  # with a zero, which has one symbol, and without
        cubes[0] = first
        cases.append((cubes.copy(), f"stochastic:levels={levels},scale={scale}"))
frames = [lossyfl.encode(each, lossyfl.quantizer(name), rng=lossyfl.stream(1)) for each, name in cases]
back = [lossyfl.decode(frame) for frame in frames]
print(hashlib.sha256(b"".join([*frames, *(y.tobytes() for y in back)])).hexdigest())
"""


def copy(folder: Path) -> Path:
    """The package without its library."""
    package = folder / "lossyfl"
    left_out = shutil.ignore_patterns("__pycache__", "_kernels.*", "*.c", "*.h")
    shutil.copytree(Path(lossyfl.__file__).parent, package, ignore=left_out)
    return package


def run(*paths: Path) -> tuple[str, str]:
    """What the program prints, and what it says on standard error."""
    done = subprocess.run(
        [*bare.COMMAND, "-c", PROGRAM],
        env=os.environ | {"PYTHONPATH": bare.search_path(*paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr


def nothing(package: Path) -> None:
    """Leave the library out."""
    del package


def garbage(package: Path) -> None:
    """Put something else there, as of another processor."""
    (package / "kernels" / "_kernels.so").write_bytes(b"\x7fELF" + bytes(60))


def incomplete(package: Path) -> None:
    """Let the library lack a kernel, as one that was not built again."""
    library = next(found for each in native_folders() if (found := each / "_kernels.so").exists())
    without = library.read_bytes().replace(b"lfl_look_up_u8", b"lfl_look_up_xx")
    (package / "kernels" / "_kernels.so").write_bytes(without)


def cut(package: Path) -> None:
    """Leave the first half of the library there."""
    library = next(found for each in native_folders() if (found := each / "_kernels.so").exists())
    (package / "kernels" / "_kernels.so").write_bytes(library.read_bytes()[: 1 << 16])


def folder(package: Path) -> None:
    """Put a folder there, which cannot be read either."""
    (package / "kernels" / "_kernels.so").mkdir()


def older(package: Path) -> None:
    """Put this library beside sources of another version."""
    path = package / "kernels" / "native.py"
    path.write_text(path.read_text().replace(f"\nABI = {native.ABI}\n", "\nABI = 999\n"))
    library = next(found for each in native_folders() if (found := each / "_kernels.so").exists())
    shutil.copy(library, package / "kernels")


def native_folders() -> list[Path]:
    import lossyfl.kernels

    return [Path(each) for each in lossyfl.kernels.__path__]


@pytest.mark.skipif(native.LIBRARY is None, reason="no native kernels here")
@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (nothing, "this install has no native kernels"),
        (garbage, "cannot be loaded"),
        (older, "is of another version"),
        (incomplete, "are not all there"),
        (cut, "cannot be loaded (its end is missing)"),
        (folder, "cannot be loaded"),
    ],
)
def test_the_references_take_over(
    damage: Callable[[Path], None], says: str, tmp_path: Path
) -> None:
    expected = subprocess.run(
        [sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True
    )
    assert not expected.stderr
    damage(copy(tmp_path))
    printed, said = run(tmp_path)
    assert printed == expected.stdout.strip()
    assert said.count("RuntimeWarning") == 1
    assert says in said
