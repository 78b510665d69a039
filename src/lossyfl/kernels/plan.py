"""How symbols with given counts are coded, and what a frame's counts stand for: the reference of plan.c.

Larger letters mean fewer coding steps, and more letters whose rounded frequency wastes bits: the encoder
takes the largest that waste little, or the wide coder, or says that all symbols are equally frequent.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.counts import read_counts, rounded, write_counts
from lossyfl.kernels.logarithms import log2_of
from lossyfl.kernels.model import (
    MAX_LETTERS,
    Counts,
    Frequencies,
    build_frequencies,
    entropy,
    letters_of,
    mean_bits,
)
from lossyfl.kernels.native import native, reference

TOLERANCE = 0.002
"""The largest part of the entropy that may be lost for the sake of larger letters."""

PREAMBLE = 3  # bytes of group and segments
STATE_WORDS = 8
SEGMENT_ENTRIES = 1 << 16  # no segment has fewer entries, and
SEGMENT_BYTES = 5000  # none is expected to be shorter: one costs about 16 bytes more
MAX_SEGMENTS = 1 << 15
MAX_TOTAL = 1 << 34  # so that 28 more bits fit the 64 of `normalise`
EQUAL = 0x80  # the table that says: all symbols are equally frequent


class _Plan(NamedTuple):
    group: int
    segments: int
    nbytes: int
    table: int
    frequencies: Frequencies


@native("i64[] u64[]! u8[]! u64[]! i64[]! -> i")
def plan(
    counts: Counts,
    weights: Frequencies,
    table: NDArray[np.uint8],
    frequencies: Frequencies,
    found: Counts,
) -> int:
    """The smaller of two models: the counts themselves, or all symbols equally frequent.

    Fills the table of counts, the frequencies, and `found`: group, segments, expected bytes, bytes of the
    table. -1 if sizes or counts are impossible.

    weights: room for one number a symbol
    """
    n, entries = len(counts), int(counts.sum())
    if n < 2 or len(weights) < n or len(frequencies) < max(n, MAX_LETTERS) or len(found) < 4:
        return -1
    if counts.min() < 0 or int(counts.max()) > MAX_TOTAL or not 1 <= entries <= MAX_TOTAL:
        return -1
    weights[:n] = rounded(counts)
    size = reference(write_counts)(weights[:n], table)
    if size < 1:
        return -1
    best = _plan_of(weights[:n], counts, entries, size)
    # Equal frequencies can only win where the table of counts costs more than it saves.
    if float(log2_of(np.array([float(n)]))[0]) * entries / 8 <= best.nbytes:
        equal = _plan_of(np.ones(n, dtype=np.uint64), counts, entries, 1)
        if equal.nbytes < best.nbytes:
            best, table[0] = equal, EQUAL
    frequencies[: len(best.frequencies)] = best.frequencies
    found[:4] = best[:4]
    return 0


def choose(weights: Frequencies, counts: Counts) -> tuple[int, Frequencies, float]:
    """The group of the largest letters that waste at most TOLERANCE, their frequencies and cost in bits."""
    entries, allowed = int(counts.sum()), entropy(counts) * (1 + TOLERANCE) + 32
    groups = [k for k in range(8, 0, -1) if letters_of(len(counts), k) > 0]
    for group in [*groups, 0]:
        frequencies = np.empty(len(counts) ** (group or 1), dtype=np.uint64)
        reference(build_frequencies)(weights, group, frequencies)
        needed = reference(mean_bits)(frequencies, counts, group) * entries / (group or 1)
        if needed <= allowed or not group:
            return group, frequencies, needed
    raise AssertionError


def _plan_of(weights: Frequencies, counts: Counts, entries: int, table: int) -> _Plan:
    frequencies = np.empty_like(weights)
    if np.count_nonzero(weights) == 1:
        reference(build_frequencies)(weights, 0, frequencies)
        return _Plan(0, 0, PREAMBLE + table, table, frequencies)
    group, frequencies, bits = choose(weights, counts)
    share = min(entries // SEGMENT_ENTRIES, int(bits) // 8 // SEGMENT_BYTES, MAX_SEGMENTS)
    segments = 1 << (max(share, 1).bit_length() - 1)
    states = STATE_WORDS * (2 if group else 4)
    overhead = PREAMBLE + table + states * segments + 4 * (segments - 1)
    # A state also holds what it was worth when it was written: about half of its bytes come back.
    nbytes = overhead + int(bits / 8) - states * segments // 2
    return _Plan(group, segments, nbytes, table, frequencies)


@native("u8[] i u64[]! u64[]! -> i")
def open_model(
    data: NDArray[np.uint8], group: int, weights: Frequencies, frequencies: Frequencies
) -> int:
    """The rounded counts that `data` begins with and the frequencies they stand for.

    Returns the bytes that they take, -1 if they are no table or sizes do not fit.
    """
    if len(frequencies) != (letters_of(len(weights), group) if group else len(weights)):
        return -1
    bits = reference(read_counts)(data, weights)
    if bits < 0 or int(weights.sum()) > MAX_TOTAL:
        return -1
    if not weights.any():
        weights[:] = 1
    reference(build_frequencies)(weights, group, frequencies)
    return (bits + 7) // 8
