"""A data set by its name."""

from pathlib import Path

from lossyfl.data import decoded
from lossyfl.data.catalog import DIGITS, known
from lossyfl.data.dataset import Dataset
from lossyfl.data.digits import read_digits
from lossyfl.data.facts import DatasetFacts
from lossyfl.data.places import Found, locate
from lossyfl.data.verify import verify


def load(name: str, folder: Path | None = None) -> Dataset:
    """The data set, checked; `folder` is the only place that is searched if it is given.

    >>> load("digits").train_x.shape
    (1437, 1, 8, 8)
    """
    facts = known(name)
    if facts is DIGITS:
        return read(facts, None)
    found = locate(facts, folder)
    if not decoded.is_slow(found):
        return read(facts, found)
    kept = decoded.recall(facts, found)
    if kept is not None:
        return kept
    dataset = read(facts, found)
    decoded.keep(facts, found, dataset)
    return dataset


def read(facts: DatasetFacts, found: Found | None) -> Dataset:
    """The data set from its files, or from its package if `found` is None; checked, no cache in between."""
    if found is None:
        return verify(read_digits(), facts, where="scikit-learn")
    return verify(found.layout.read(facts.name, found.files), facts, where=str(found.folder))
