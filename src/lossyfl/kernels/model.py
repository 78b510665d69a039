"""From counts of symbols to the integer frequencies that rANS codes with: the reference of model.c.

A *letter* is k symbols taken together; its probability is the product of theirs, so that only the counts of
single symbols travel and both sides compute the rest, in integers, to the same result. What a model costs
is compared by the encoder alone; its logarithms are `log2_of`, so that it chooses the same everywhere.
"""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.logarithms import log2_of
from lossyfl.kernels.native import native, reference

Frequencies = NDArray[np.uint64]
Counts = NDArray[np.int64]

MAX_LETTERS = 256
"""Letters fit a byte."""

LETTER_BITS = 15
"""Frequencies of letters sum to 2^15."""

WIDE_BITS = 28
"""Frequencies of single symbols sum to 2^28 where those of letters are too coarse."""


@native("u64[] i u64[]! -> i")
def normalise(weights: Frequencies, bits: int, frequencies: Frequencies) -> int:
    """Frequencies in proportion to `weights` that sum to 2^bits, at least 1 for every used one.

    A letter whose share of 2^bits is below 1 gets 1; what the others have above 1 is scaled to fill
    the rest, and rounded cumulatively so that the sum is exact. -1 if sizes do not fit.
    """
    if len(frequencies) != len(weights) or not 1 <= bits <= WIDE_BITS:
        return -1
    total, share = weights.sum(), weights << np.uint64(bits)
    above = np.where(share > total, share - total, np.uint64(0))  # in units of total / 2^bits
    spare = max(0, int(above.sum()).bit_length() - (62 - bits))  # so that the products below fit 64
    seen = np.cumsum(above >> np.uint64(spare))
    room = np.uint64((1 << bits) - np.count_nonzero(weights))
    edges = seen * room // max(seen[-1], np.uint64(1))
    frequencies[:] = np.diff(edges, prepend=np.uint64(0)) + (weights > 0)
    return 0


def letters_of(alphabet: int, group: int) -> int:
    """How many letters of so many symbols there are, -1 if they do not fit a byte."""
    if group < 1 or alphabet < 2 or group > 8 or alphabet**group > MAX_LETTERS:
        return -1
    return alphabet**group


@native("u64[] i u64[]! -> i")
def build_frequencies(weights: Frequencies, group: int, frequencies: Frequencies) -> int:
    """The frequencies of letters of `group` symbols, the first symbol the most significant digit.

    Products of 16-bit shares, each rounded to 32 bits after the point, never to zero. Group 0 stands for
    single symbols of the wide coder. -1 if sizes do not fit.
    """
    if len(frequencies) != (letters_of(len(weights), group) if group else len(weights)):
        return -1
    if not group:
        return reference(normalise)(weights, WIDE_BITS, frequencies)
    base = np.empty_like(weights)
    reference(normalise)(weights, 16, base)
    joint = np.array([1 << 32], dtype=np.uint64)
    for _ in range(group):
        product = np.multiply.outer(joint, base).ravel()
        rounded = (product + np.uint64(1 << 15)) >> np.uint64(16)
        joint = np.maximum(rounded, (product > 0).astype(np.uint64))
    return reference(normalise)(joint, LETTER_BITS, frequencies)


def _sum(terms: NDArray[np.float64]) -> float:
    """One addition after the other, from left to right."""
    return float(np.cumsum(terms)[-1]) if len(terms) else 0.0


@native("u64[] i64[] i -> d")
def mean_bits(frequencies: Frequencies, counts: Counts, group: int) -> float:
    """Mean bits a letter when its symbols are independent; infinity if one cannot be coded."""
    if len(frequencies) != (letters_of(len(counts), group) if group else len(counts)):
        return float("inf")
    share = counts / counts.sum()
    chance = np.ones(1)
    for _ in range(group or 1):
        chance = np.multiply.outer(chance, share).ravel()
    used = chance > 0
    if (frequencies[used] == 0).any():
        return float("inf")
    bits = LETTER_BITS if group else WIDE_BITS
    return _sum(chance[used] * (bits - log2_of(frequencies[used].astype(np.float64))))


def entropy(counts: Counts) -> float:
    """Empirical entropy of all entries together, in bits."""
    seen = counts[counts > 0].astype(np.float64)
    return _sum(seen * (log2_of(np.array([counts.sum()], dtype=np.float64)) - log2_of(seen)))
