"""Programs on the user's machine, and the archives that they bring."""

import hashlib
import shutil
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path

from lossyfl.data.sources.source import SourceError

SECONDS = 600
"""How long a program may take: the largest archive has 139 MB."""


def run(command: Sequence[str], folder: Path) -> None:
    """Run a program in a folder; SourceError is what it complains about."""
    tool = shutil.which(command[0])
    if tool is None:
        raise SourceError(f"{Path(command[0]).name} is not installed")
    try:
        done = subprocess.run(
            [tool, *command[1:]],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise SourceError(f"no end within {SECONDS} s") from None
    if done.returncode:
        raise SourceError(_complaint(done.stderr) or f"exit code {done.returncode}")


def _complaint(text: str) -> str:
    """The line of an error output that says most: pip and apt mark it, npm has it first."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if line.startswith(("ERROR:", "E:"))]
    return (telling or lines[:1] or [""])[-1]


def pinned(archive: Path, sha256: str) -> Path:
    """The same archive if it is the one that we know; nothing else is opened."""
    if not archive.is_file():
        raise SourceError(f"no {archive.name} came")
    with archive.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    if digest != sha256:
        raise SourceError(f"{archive.name} has sha256 {digest[:16]}, not {sha256[:16]}")
    return archive


def extract(archive: Path, members: Sequence[str], folder: Path) -> list[Path]:
    """Members of a tar archive as files in a folder, by their last names; nothing else leaves it."""
    files: list[Path] = []
    with tarfile.open(archive) as tar:
        for member in members:
            content = tar.extractfile(member)
            if content is None:
                raise SourceError(f"{member} of {archive.name} is no file")
            files.append(folder / Path(member).name)
            with content, files[-1].open("wb") as file:
                shutil.copyfileobj(content, file)
    return files
