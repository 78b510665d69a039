"""A data set by its name."""

from pathlib import Path

from lossyfl.data import decoded
from lossyfl.data.catalog import CATALOG, DIGITS, known
from lossyfl.data.dataset import AnyDataset, Array, Dataset
from lossyfl.data.digits import read_digits
from lossyfl.data.facts import DatasetFacts
from lossyfl.data.places import Found, locate
from lossyfl.data.verify import verify
from lossyfl.errors import InputError, one_of


def load(name: str, folder: Path | None = None) -> Dataset:
    """The images, checked; `folder` is the only place that is searched if it is given.

    >>> load("digits").train_x.shape
    (1437, 1, 8, 8)
    """
    facts = known(name)
    if len(facts.shape) != 3:
        images = [facts.name for facts in CATALOG if len(facts.shape) == 3]
        raise InputError("name", of="a data set of images", allowed=one_of(images, name), got=name)
    dataset = decode(facts, folder)
    assert isinstance(dataset, Dataset)
    return dataset


def load_arrays(name: str, folder: Path | None = None) -> tuple[Array, ...]:
    """The arrays of any data set in the order of the catalog, checked."""
    return tuple(decode(known(name), folder).arrays)


def decode(facts: DatasetFacts, folder: Path | None = None) -> AnyDataset:
    """The data set, checked, from the cache if unpacking takes long."""
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


def read(facts: DatasetFacts, found: Found | None) -> AnyDataset:
    """The data set from its files, or from its package if `found` is None; checked, no cache in between."""
    if found is None:
        return verify(read_digits(), facts, where="scikit-learn")
    return verify(found.layout.read(facts.name, found.files), facts, where=str(found.folder))
