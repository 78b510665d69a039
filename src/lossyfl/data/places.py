"""Where the files of a data set are looked for.

One root: the folder that the caller names, else that of $LOSSYFL_DATA, else the user's cache. Below it a
data set lies in its own folder, in one that other libraries use, or directly.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lossyfl.data.catalog import CATALOG
from lossyfl.data.facts import DatasetFacts
from lossyfl.data.idx import read_idx
from lossyfl.data.layouts import FileLayout
from lossyfl.data.verify import sha256
from lossyfl.errors import InputError

VARIABLE = "LOSSYFL_DATA"
SHARED = (".", "raw")
"""Folders below a root that do not tell whose files they hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The files of a data set, one of each, and how to read them."""

    folder: Path
    layout: FileLayout
    files: tuple[Path, ...]

    @property
    def nbytes(self) -> int:
        """The size of the files."""
        return sum(file.stat().st_size for file in self.files)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """A folder with some files of a layout; those that are not there by their preferred names."""

    folder: Path
    layout: FileLayout
    files: tuple[Path, ...]
    missing: tuple[str, ...]


def cache_root() -> Path:
    """The user's cache directory of lossyfl, which need not exist."""
    base = Path(os.environ.get("XDG_CACHE_HOME", ""))
    return (base if base.is_absolute() else Path.home() / ".cache") / "lossyfl"


def root(folder: Path | None = None) -> Path:
    """The one folder below which data sets are looked for and stored."""
    if folder is not None:
        return folder.expanduser()
    named = os.environ.get(VARIABLE)
    return Path(named).expanduser() if named else cache_root()


def find(facts: DatasetFacts, folder: Path | None = None) -> Found | None:
    """The files of a data set, or None if they are not all there; none of them is decoded."""
    for candidate in _candidates(facts, existing_root(folder)):
        if not candidate.missing:
            return Found(folder=candidate.folder, layout=candidate.layout, files=candidate.files)
    return None


def locate(facts: DatasetFacts, folder: Path | None = None) -> Found:
    """The files of a data set; InputError says what is missing, where it was looked for, and what helps."""
    found = find(facts, folder)
    if found is None:
        raise missing(facts, folder)
    return found


def missing(facts: DatasetFacts, folder: Path | None = None) -> InputError:
    """The error for a data set that is not, or not all, there."""
    top = root(folder)
    origin = f" (from ${VARIABLE})" if folder is None and os.environ.get(VARIABLE) else ""
    option = f" --data-dir {folder}" if folder is not None else ""
    places = ", ".join((*facts.folders, *SHARED))
    none = f"none of {', '.join(facts.layouts[0].first_names)}"
    return InputError(
        "files",
        of=facts.name,
        allowed=f"in {top}{origin}, below it in one of {places}",
        got=f"{lacking(facts, folder) or none}; to get them: "
        f"lossyfl data fetch {facts.name}{option}",
    )


def lacking(facts: DatasetFacts, folder: Path | None = None) -> str:
    """What is missing where only some files of a data set are; empty if there are none at all."""
    for candidate in _candidates(facts, existing_root(folder)):
        if candidate.missing:
            return f"no {', '.join(candidate.missing)} in {candidate.folder}"
    return ""


def existing_root(folder: Path | None) -> Path:
    """The root; InputError if someone named it and it is not there."""
    top = root(folder)
    named = folder is not None or bool(os.environ.get(VARIABLE))
    if named and not top.is_dir():
        owner = "the data" if folder is not None else f"${VARIABLE}"
        raise InputError("folder", of=owner, allowed="one that exists", got=str(top))
    return top


def _candidates(facts: DatasetFacts, top: Path) -> Iterator[_Candidate]:
    """Every folder that holds at least one file of the data set, in the order of search."""
    for name in (*facts.folders, *SHARED):
        for layout in facts.layouts:
            candidate = _look(top / name, layout)
            if candidate.files and not (name in SHARED and _is_of_another(facts, candidate)):
                yield candidate


def _look(folder: Path, layout: FileLayout) -> _Candidate:
    """What a folder holds of a layout."""
    files: list[Path] = []
    absent: list[str] = []
    for spellings in layout.files:
        there = next((folder / name for name in spellings if (folder / name).is_file()), None)
        if there is None:
            absent.append(spellings[0])
        else:
            files.append(there)
    return _Candidate(folder=folder, layout=layout, files=tuple(files), missing=tuple(absent))


def _is_of_another(facts: DatasetFacts, candidate: _Candidate) -> bool:
    """Whether these files are another set's: MNIST and Fashion-MNIST use the same names.

    The test labels, a few kilobytes and the last file, decide.
    """
    others = {
        other.parts[3].sha256
        for other in CATALOG
        if other is not facts and candidate.layout in other.layouts
    }
    if not others:
        return False
    try:
        return sha256(read_idx(candidate.files[-1], axes=1)) in others
    except InputError:
        return False  # damaged: let the reader say so
