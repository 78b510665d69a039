"""What is there of a data set, and whether it is what it should be."""

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from lossyfl.data.catalog import DIGITS, known
from lossyfl.data.loading import read
from lossyfl.data.places import existing_root, find, lacking, locate


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """One data set as it lies there, not decoded.

    shape:   of one sample; of an image (channels, height, width)
    samples: what it has, in a word
    train:   number of samples for training
    test:    number of samples of its own test set
    place:   its folder, or the package it comes with; None if it is not there
    nbytes:  size of its files; 0 if it is not there or comes with a package
    hint:    what is missing, or the command that gets it; empty if it is there
    partly:  whether some of its files are there and others are not
    """

    name: str
    classes: int
    shape: tuple[int, ...]
    samples: str
    train: int
    test: int
    place: str | None
    nbytes: int
    hint: str
    partly: bool


def status(name: str, folder: Path | None = None) -> Status:
    """What is there, by names and sizes only."""
    facts = known(name)
    existing_root(folder)
    found = find(facts, folder)
    packaged = facts is DIGITS and importlib.util.find_spec("sklearn") is not None
    place = "scikit-learn" if packaged else str(found.folder) if found else None
    gap = "" if place else lacking(facts, folder)
    command = "pip install 'lossyfl[sim]'" if facts is DIGITS else f"lossyfl data fetch {name}"
    return Status(
        name=name,
        classes=facts.classes,
        shape=facts.shape,
        samples=facts.samples,
        train=facts.train,
        test=facts.test,
        place=place,
        nbytes=found.nbytes if found else 0,
        hint="" if place else gap or command,
        partly=bool(gap),
    )


def check(name: str, folder: Path | None = None) -> None:
    """Read the files themselves, past every cache; InputError says what is missing or damaged."""
    facts = known(name)
    read(facts, None if facts is DIGITS else locate(facts, folder))
