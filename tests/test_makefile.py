"""What `make` installs for whom."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("target", "extras"), [("demo", "sim,report"), ("test", "dev"), ("install", "dev")]
)
def test_a_target_installs_what_it_needs(target: str, extras: str, tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path)
    command = ["make", "--dry-run", target]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert re.findall(r'--editable "\.\[(.*?)\]"', said) == [extras]
