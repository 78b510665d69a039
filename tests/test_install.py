"""Installs as they are found: read-only, without a home."""

import os
import shutil
import subprocess
from pathlib import Path

from tests import bare

import lossyfl

SOURCE = Path(lossyfl.__file__).parent


def test_a_read_only_install_without_a_home_can_be_imported(tmp_path: Path) -> None:
    """Files in place of the folders for caches: root, too, can write none there."""
    package = tmp_path / "lossyfl"
    shutil.copytree(SOURCE, package, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [package, *(each for each in package.rglob("*") if each.is_dir())]:
        (folder / "__pycache__").touch()
    hidden = ("XDG_CACHE_HOME", "PYTHONPATH", "IPYTHONDIR")
    kept = {name: value for name, value in os.environ.items() if name not in hidden}
    program = "from lossyfl.protocol import device, schemes, server; import lossyfl; print(lossyfl.__file__)"
    done = subprocess.run(
        [*bare.COMMAND, "-c", program],
        env=kept | {"PYTHONPATH": bare.search_path(tmp_path), "HOME": "/dev/null"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert str(tmp_path) in done.stdout
