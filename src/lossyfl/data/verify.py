"""Arrays against their known sums: what passes is the data set, whatever carried it."""

import hashlib
from typing import TypeVar

import numpy as np

from lossyfl.data.catalog import CATALOG
from lossyfl.data.dataset import AnyDataset, Array
from lossyfl.data.facts import DatasetFacts
from lossyfl.errors import InputError

D = TypeVar("D", bound=AnyDataset)


def sha256(array: Array) -> str:
    """The SHA-256 of a contiguous array's bytes."""
    return hashlib.sha256(array.view(np.uint8).data).hexdigest()


def verify(dataset: D, facts: DatasetFacts, *, where: str) -> D:
    """The same data set if it is the known one; `where` says in the error where it comes from."""
    for part, array in zip(facts.parts, dataset.arrays, strict=True):
        owner = f"{facts.name} in {where}"
        if array.shape != part.shape:
            raise InputError(
                f"shape of {part.name}", of=owner, allowed=f"{part.shape}", got=array.shape
            )
        digest = sha256(array)
        if digest != part.sha256:
            allowed = f"the known array, sha256 {part.sha256[:16]}"
            raise InputError(part.name, of=owner, allowed=allowed, got=_describe(digest))
    return dataset


def _describe(digest: str) -> str:
    """The sum, or the name of the data set that the array really belongs to."""
    for facts in CATALOG:
        for part in facts.parts:
            if part.sha256 == digest:
                return f"{part.name} of {facts.name}"
    return f"sha256 {digest[:16]}: damaged or changed"
