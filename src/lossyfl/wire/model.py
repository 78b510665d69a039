"""From counts of symbols to the integer frequencies that rANS codes with.

A *letter* is k symbols taken together; its probability is the product of theirs, so that only the
counts of single symbols travel and both sides compute the rest, in integers, to the same result.
Larger k means fewer coding steps, and more letters whose rounded frequency wastes bits: `choose`
takes the largest k whose waste is small.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lossyfl.histogram import entropy
from lossyfl.jit import kernel
from lossyfl.types import Counts

Frequencies = NDArray[np.uint64]

MAX_LETTERS = 256
"""Letters fit a byte."""

LETTER_BITS = 15
"""Frequencies of letters sum to 2^15."""

WIDE_BITS = 28
"""Frequencies of single symbols sum to 2^28 where those of letters are too coarse."""

TOLERANCE = 0.002
"""The largest part of the entropy that may be lost for the sake of larger letters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """How symbols are coded.

    group:       symbols per letter; 0 stands for the wide coder, which takes single symbols
    frequencies: one per letter, zero for letters that cannot occur; they sum to 2^bits
    """

    group: int
    frequencies: Frequencies

    def __post_init__(self) -> None:
        # The decoders index tables of 2^bits slots without looking.
        assert int(self.frequencies.sum()) == 1 << self.bits, "frequencies do not fill the slots"

    @property
    def bits(self) -> int:
        """The precision of the frequencies."""
        return LETTER_BITS if self.group else WIDE_BITS


def normalise(weights: Frequencies, bits: int) -> Frequencies:
    """Frequencies in proportion to `weights` that sum to 2^bits, at least 1 for every used one.

    A letter whose share of 2^bits is below 1 gets 1; what the others have above 1 is scaled to fill
    the rest, and rounded cumulatively so that the sum is exact.

    >>> normalise(np.array([1, 0, 1, 10**6], dtype=np.uint64), 4).tolist()
    [1, 0, 1, 14]
    """
    frequencies = np.empty_like(weights)
    _normalise(weights, bits, frequencies)
    return frequencies


@kernel
def _normalise(weights: Frequencies, bits: int, frequencies: Frequencies) -> None:
    zero = np.uint64(0)
    total = zero
    used = 0
    for weight in weights:
        total += weight
        used += weight > zero
    above = zero  # sum of what exceeds a share of 1, in units of total / 2^bits
    for weight in weights:
        share = weight << np.uint64(bits)
        above += share - total if share > total else zero
    spare = np.uint64(0)  # dropped bits, so that the products below fit 64
    while (above >> spare) >> np.uint64(62 - bits) != zero:
        spare += np.uint64(1)
    above = zero
    for weight in weights:
        share = weight << np.uint64(bits)
        above += (share - total) >> spare if share > total else zero
    room = np.uint64((1 << bits) - used)
    seen = zero
    filled = zero
    for i in range(len(weights)):
        share = weights[i] << np.uint64(bits)
        seen += (share - total) >> spare if share > total else zero
        edge = seen * room // above if above > zero else zero
        frequencies[i] = edge - filled + np.uint64(weights[i] > zero)
        filled = edge


def joint_weights(weights: Frequencies, group: int) -> Frequencies:
    """Weights of letters of `group` symbols, the first symbol the most significant digit."""
    base = normalise(weights, 16)
    joint = np.empty(len(weights) ** group, dtype=np.uint64)
    _multiply(base, group, joint)
    return joint


@kernel
def _multiply(base: Frequencies, group: int, joint: Frequencies) -> None:
    """Products of 16-bit shares, each rounded to 32 bits after the point, never to zero."""
    joint[0] = np.uint64(1 << 32)
    done = 1
    for _ in range(group):
        for i in range(done - 1, -1, -1):  # from the end, so that nothing is overwritten too soon
            for j in range(len(base) - 1, -1, -1):
                product = joint[i] * base[j]
                rounded = (product + np.uint64(1 << 15)) >> np.uint64(16)
                some = np.uint64(1) if product > np.uint64(0) else np.uint64(0)
                joint[i * len(base) + j] = max(rounded, some)
        done *= len(base)


def build(weights: Frequencies, group: int) -> Model:
    """The model that a frame's counts and group stand for."""
    if group:
        joint = joint_weights(weights, group)
        return Model(group=group, frequencies=normalise(joint, LETTER_BITS))
    return Model(group=0, frequencies=normalise(weights, WIDE_BITS))


def cost(model: Model, counts: Counts) -> float:
    """Bits that the model needs for symbols with these counts, the coder's own overhead aside."""
    group = model.group or 1
    share = counts / counts.sum()
    return _mean_length(model.frequencies, share, group, model.bits) * int(counts.sum()) / group


@kernel
def _mean_length(
    frequencies: Frequencies, share: NDArray[np.float64], group: int, bits: int
) -> float:
    """Mean bits a letter when its symbols are independent; infinity if one cannot be coded."""
    total = 0.0
    for letter in range(len(frequencies)):
        chance = 1.0
        rest = letter
        for _ in range(group):
            chance *= share[rest % len(share)]
            rest //= len(share)
        if chance > 0.0:
            if frequencies[letter] == np.uint64(0):
                return np.inf
            total += chance * (bits - math.log2(float(frequencies[letter])))
    return total


def choose(weights: Frequencies, counts: Counts) -> tuple[Model, float]:
    """The model with the largest letters that wastes at most TOLERANCE, and its cost in bits."""
    allowed = entropy(counts) * (1 + TOLERANCE) + 32
    for group in range(_largest_group(len(weights)), 0, -1):
        model = build(weights, group)
        needed = cost(model, counts)
        if needed <= allowed:
            return model, needed
    model = build(weights, 0)
    return model, cost(model, counts)


def _largest_group(alphabet: int) -> int:
    """The most symbols whose letters fit a byte, 0 where not even one does."""
    group = 0
    while alphabet ** (group + 1) <= MAX_LETTERS:
        group += 1
    return group
