"""Classes of keys and their tables: the reference of class_tables.c.

Keys that are neighbours share a table wherever two would cost more than they save; the cheapest cut of all
keys into *classes* is found by dynamic programming over entropies.

A table is not its counts: a class is known to have so many entries, so the commonest symbol has what the
others leave; and of each of these only the distance travels from what is expected, its share of the class
before. Distances are between the places of counts among all those with as few leading bits: at four of
them, 16 and 18 are neighbours.
"""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.levels import KEYS, Bytes, Ints
from lossyfl.kernels.logarithms import log2_of
from lossyfl.kernels.model import (
    MAX_LETTERS,
    Frequencies,
    build_frequencies,
    letters_of,
    mean_bits,
)
from lossyfl.kernels.native import native, reference
from lossyfl.kernels.plan import MAX_TOTAL, TOLERANCE

CLASS_BITS, SYMBOL_BITS = 6, 6
"""What a class, and a symbol in use of it, cost about."""


def _bits_in(counts: Ints) -> NDArray[np.float64]:
    """N log2 n of every count: the entropy of counts is that of their sum less theirs."""
    some = np.maximum(counts, 1).astype(np.float64)
    return np.where(counts > 0, some * log2_of(some), 0.0)


def _costs(counts: Ints) -> NDArray[np.float64]:
    """The entropy of every row of counts, and about what its table costs."""
    bits = np.zeros(len(counts))
    for column in counts.T:
        bits += _bits_in(column)
    used = (counts > 0).sum(1)
    return _bits_in(counts.sum(1)) - bits + (CLASS_BITS + SYMBOL_BITS * used)


@native("u8[] i64[] i i64[]! u8[]! -> i")
def choose_classes(keyed: Bytes, starts: Ints, alphabet: int, sums: Ints, classes: Bytes) -> int:
    """The classes of all keys, neighbours together, that cost least; how many, -1 if sizes do not fit.

    sums: filled with the counts of symbols before each key, a row a key and one more
    """
    if not 2 <= alphabet <= 256 or len(sums) != (KEYS + 1) * alphabet or len(classes) != KEYS:
        return -1
    if (
        len(starts) != KEYS + 1
        or starts[0] < 0
        or (np.diff(starts) < 0).any()
        or starts[-1] > len(keyed)
    ):
        return -1
    own = [keyed[starts[k] : starts[k + 1]] for k in range(KEYS)]
    counts = np.array([np.bincount(each, minlength=256)[:alphabet] for each in own])
    table = np.concatenate([np.zeros((1, alphabet), np.int64), np.cumsum(counts, 0)])
    sums[:] = table.ravel()
    present = np.flatnonzero(np.diff(starts))
    best, come = np.zeros(len(present) + 1), [0] * (len(present) + 1)
    for j in range(1, len(present) + 1):
        ways = best[:j] + _costs(table[present[j - 1] + 1] - table[present[:j]])
        come[j] = int(ways.argmin())
        best[j] = ways[come[j]]
    ends, j = set[int](), len(present)
    while j:
        ends.add(int(present[j - 1]))
        j = come[j]
    made = len(ends)
    ends.discard(max(ends, default=0))
    classes[:] = np.cumsum([k - 1 in ends for k in range(KEYS)])
    return made


def place_of(count: int, bits: int) -> int:
    """The place of the largest count with so many leading bits that is not above.

    >>> [place_of(n, 2) for n in (0, 1, 2, 3, 4, 5, 6, 8)]
    [0, 1, 2, 3, 4, 4, 5, 6]
    """
    drop = count.bit_length() - bits
    return count if drop <= 0 else (drop << (bits - 1)) + (count >> drop)


def count_at(place: int, bits: int) -> int:
    """The count at a place.

    >>> [count_at(place, 2) for place in range(7)]
    [0, 1, 2, 3, 4, 6, 8]
    """
    step = 1 << (bits - 1)
    drop = place // step - 1
    return place if drop < 1 else (place % step + step) << drop


def nearest_place(count: int, bits: int) -> int:
    """The place of the nearest count with so many leading bits."""
    drop = count.bit_length() - bits
    return place_of(count + ((1 << drop) // 2 if drop > 0 else 0), bits)


def _expected(weight: int, size: int, last: int, bits: int) -> int:
    """Where a symbol is expected that has such a weight in the class before."""
    return nearest_place(int(float(weight) * float(size) / float(last)), bits) if last else 0


def _built(weights: Frequencies, group: int) -> Frequencies:
    frequencies = np.zeros(MAX_LETTERS, np.uint64)
    reference(build_frequencies)(weights, group, frequencies[: len(weights) ** group])
    return frequencies


def _letters(weights: Frequencies, counts: Ints) -> tuple[int, Frequencies, float]:
    """The largest letters that waste little, their frequencies and bits."""
    groups = [k for k in range(8, 0, -1) if letters_of(len(weights), k) > 0]
    allowed = 0.0
    for group in (1, *groups):
        frequencies = _built(weights, group)
        mean = reference(mean_bits)(frequencies[: len(weights) ** group], counts, group)
        needed = mean * int(counts.sum()) / group
        if allowed and needed <= allowed:
            return group, frequencies, needed
        allowed = allowed or needed * (1 + TOLERANCE) + 1
    raise AssertionError


@native("i64[] i i u64[]! i64[]! u8[]! u8[]! u64[]! -> d")
def make_tables(
    counts: Ints,
    alphabet: int,
    bits: int,
    weights: Frequencies,
    numbers: Ints,
    commonest: Bytes,
    groups: Bytes,
    frequencies: Frequencies,
) -> float:
    """The tables of all classes; the expected bits of all symbols, -1 if sizes do not fit.

    bits:    leading ones of a count that travel
    numbers: what travels of each: the distances of all symbols but the commonest
    groups:  symbols a letter
    """
    classes = len(commonest)
    sizes = [
        classes * alphabet,
        classes * alphabet,
        classes * (alphabet - 1),
        classes,
        classes * MAX_LETTERS,
    ]
    if not 2 <= alphabet <= 256 or not 2 <= bits <= 16 or not 1 <= classes <= KEYS:
        return -1.0
    if [len(counts), len(weights), len(numbers), len(groups), len(frequencies)] != sizes:
        return -1.0
    table, total, last, before = counts.reshape(classes, alphabet), 0.0, 0, [0] * alphabet
    if (table < 0).any() or any(not 0 < sum(row) <= MAX_TOTAL for row in table.tolist()):
        return -1.0
    for c, row in enumerate(table):
        own, top, size = row.tolist(), int(row.argmax()), int(row.sum())
        places = [nearest_place(count, bits) for count in own]
        expected = [_expected(weight, size, last, bits) for weight in before]
        others = [s for s in range(alphabet) if s != top]
        numbers[c * (alphabet - 1) : (c + 1) * (alphabet - 1)] = [
            places[s] - expected[s] for s in others
        ]
        before = [count_at(place, bits) for place in places]
        before[top] = max(size - sum(before[s] for s in others), 1)
        made = np.array(before, np.uint64)
        weights[c * alphabet : (c + 1) * alphabet] = made
        groups[c], frequencies[c * MAX_LETTERS : (c + 1) * MAX_LETTERS], needed = _letters(
            made, row
        )
        commonest[c], last, total = top, size, total + needed
    return total


@native("i64[] i i i64[] u8[] u8[] u64[]! u64[]! -> i")
def open_tables(
    numbers: Ints,
    alphabet: int,
    bits: int,
    sizes: Ints,
    commonest: Bytes,
    groups: Bytes,
    weights: Frequencies,
    frequencies: Frequencies,
) -> int:
    """The tables that numbers stand for, of classes of so many entries; -1 if there are none."""
    classes, rest = len(sizes), alphabet - 1
    if not 2 <= alphabet <= 256 or not 2 <= bits <= 16 or not 1 <= classes <= KEYS:
        return -1
    if len(commonest) != classes or len(groups) != classes or len(weights) != classes * alphabet:
        return -1
    if len(numbers) != classes * rest or len(frequencies) != classes * MAX_LETTERS:
        return -1
    before, last = [0] * alphabet, 0
    for c, size in enumerate(sizes.tolist()):
        top, group = int(commonest[c]), int(groups[c])
        if not 1 <= size <= MAX_TOTAL or top >= alphabet or letters_of(alphabet, group) < 0:
            return -1
        others = [s for s in range(alphabet) if s != top]
        own = numbers[c * rest : (c + 1) * rest].tolist()
        places = [
            _expected(before[s], size, last, bits) + n for s, n in zip(others, own, strict=True)
        ]
        if not all(0 <= place <= place_of(MAX_TOTAL, bits) for place in places):
            return -1
        counts = [count_at(place, bits) for place in places]
        if sum(counts) > 2 * size:
            return -1
        before = [*counts[:top], max(size - sum(counts), 1), *counts[top:]]
        last = size
        made = np.array(before, np.uint64)
        weights[c * alphabet : (c + 1) * alphabet] = made
        frequencies[c * MAX_LETTERS : (c + 1) * MAX_LETTERS] = _built(made, group)
    return 0
