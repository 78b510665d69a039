"""How symbols are coded: as letters of several symbols or one by one, with integer frequencies.

A *letter* is k symbols taken together; its probability is the product of theirs, so that only the
counts of single symbols travel and both sides compute the rest, in integers, to the same result
(`kernels/model.py`). Larger k means fewer coding steps, and more letters whose rounded frequency wastes
bits: the largest k whose waste is small is taken (`kernels/plan.py`).
"""

from dataclasses import dataclass

import numpy as np

from lossyfl.kernels import plan
from lossyfl.kernels.model import (
    LETTER_BITS,
    MAX_LETTERS,
    WIDE_BITS,
    Frequencies,
    build_frequencies,
    mean_bits,
)
from lossyfl.kernels.model import normalise as _normalise
from lossyfl.types import Counts

__all__ = [
    "LETTER_BITS",
    "MAX_LETTERS",
    "WIDE_BITS",
    "Frequencies",
    "Model",
    "build",
    "choose",
    "cost",
    "normalise",
]


@dataclass(frozen=True, slots=True)
class Model:
    """How symbols are coded.

    group:       symbols per letter; 0 stands for the wide coder, which takes single symbols
    frequencies: one per letter, zero for letters that cannot occur; they sum to 2^bits
    """

    group: int
    frequencies: Frequencies

    @property
    def bits(self) -> int:
        """The precision of the frequencies."""
        return LETTER_BITS if self.group else WIDE_BITS


def normalise(weights: Frequencies, bits: int) -> Frequencies:
    """Frequencies in proportion to `weights` that sum to 2^bits, at least 1 for every used one.

    >>> normalise(np.array([1, 0, 1, 10**6], dtype=np.uint64), 4).tolist()
    [1, 0, 1, 14]
    """
    frequencies = np.empty_like(weights)
    _normalise(weights, bits, frequencies)
    return frequencies


def build(weights: Frequencies, group: int) -> Model:
    """The model that a frame's counts and group stand for."""
    frequencies = np.empty(len(weights) ** (group or 1), dtype=np.uint64)
    build_frequencies(weights, group, frequencies)
    return Model(group, frequencies)


def cost(model: Model, counts: Counts) -> float:
    """Bits that the model needs for symbols with these counts, the coder's own overhead aside."""
    mean = mean_bits(model.frequencies, counts.astype(np.int64), model.group)
    return mean * int(counts.sum()) / (model.group or 1)


def choose(weights: Frequencies, counts: Counts) -> tuple[Model, float]:
    """The model with the largest letters that waste little, and its cost in bits."""
    group, frequencies, bits = plan.choose(weights, counts)
    return Model(group, frequencies), bits
