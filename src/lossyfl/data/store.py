"""Data sets on disk in the layout that we write; whole or not at all."""

import shutil
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from lossyfl.data.dataset import AnyDataset
from lossyfl.data.facts import DatasetFacts
from lossyfl.errors import InputError
from lossyfl.files.atomic import write_atomically

DAY = 24 * 60 * 60


@contextmanager
def staging(facts: DatasetFacts, root: Path) -> Generator[Path, None, None]:
    """A folder to work in, beside the place where the data set goes; gone afterwards."""
    try:
        root.mkdir(parents=True, exist_ok=True)
        folder = tempfile.TemporaryDirectory(prefix=_prefix(facts), dir=root)
    except OSError as error:
        got = f"{root}: {error.strerror}"
        raise InputError("folder", of="data fetch", allowed="writable", got=got) from None
    _sweep(facts, root)
    with folder as name:
        yield Path(name)


def store(dataset: AnyDataset, facts: DatasetFacts, *, stage: Path, root: Path) -> Path:
    """The folder below `root` in which the data set now lies; `stage` is on the same file system."""
    pack = facts.layouts[0].pack
    assert pack is not None, "the first layout is the one that we write"
    ready = stage / "ready"
    ready.mkdir()
    for name, content in pack(dataset.arrays):
        write_atomically(ready / name, [content])
    target = root / facts.folders[0]
    if not target.exists():
        ready.rename(target)  # all files at once
        return target
    for file in ready.iterdir():
        file.replace(target / file.name)  # each file at once, over one that was missing or damaged
    return target


def _prefix(facts: DatasetFacts) -> str:
    return f".fetch-{facts.name}-"


def _sweep(facts: DatasetFacts, root: Path) -> None:
    """Remove what a fetch left behind that was killed more than a day ago."""
    for old in root.glob(f"{_prefix(facts)}*"):
        if time.time() - old.stat().st_mtime > DAY:
            shutil.rmtree(old, ignore_errors=True)
