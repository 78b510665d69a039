"""How often each symbol occurs, and the entropy of that.

Counting one symbol after the other is slow when one of them dominates: every increment waits for
the store of the last one. So bytes are counted as pairs, into four counters in turn, and the pairs
are folded into counts of single symbols at the end.
"""

import numpy as np
from numpy.typing import NDArray

from lossyfl.jit import kernel
from lossyfl.types import Counts, Symbols


class Tally:
    """Counts symbols piece by piece.

    >>> tally = Tally(3)
    >>> tally.add(np.array([0, 2, 2], dtype=np.uint8))
    >>> tally.counts()
    array([1, 0, 2])
    """

    def __init__(self, alphabet: int) -> None:
        values = 256 * alphabet if alphabet <= 256 else alphabet
        self._counters = np.zeros((values, 4), dtype=np.int64)
        self._single = np.zeros(alphabet, dtype=np.int64)

    def add(self, symbols: Symbols) -> None:
        """Count these symbols too."""
        if symbols.dtype == np.uint8 and len(symbols) % 2:
            self._single[symbols[-1]] += 1
            symbols = symbols[:-1]
        _count(symbols.view(np.uint16), self._counters)

    def counts(self) -> Counts:
        """How often each symbol has occurred so far."""
        counts = self._single.copy()
        if len(counts) > 256:
            return counts + self._counters.sum(axis=1)
        _fold_pairs(self._counters, counts)
        return counts


@kernel
def _count(values: NDArray[np.uint16], counters: NDArray[np.int64]) -> None:
    """Count 16-bit values: pairs of uint8 symbols, or single uint16 symbols."""
    for i in range(len(values) // 4):
        j = np.uint64(4 * i)
        counters[values[j], 0] += 1
        counters[values[j + np.uint64(1)], 1] += 1
        counters[values[j + np.uint64(2)], 2] += 1
        counters[values[j + np.uint64(3)], 3] += 1
    for i in range(len(values) // 4 * 4, len(values)):
        counters[values[i], 0] += 1


@kernel
def _fold_pairs(counters: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    """Add the counts of pairs of uint8 symbols to the counts of single symbols."""
    for high in range(len(counts)):
        for low in range(len(counts)):
            pair = high * 256 + low
            seen = counters[pair, 0] + counters[pair, 1] + counters[pair, 2] + counters[pair, 3]
            counts[high] += seen
            counts[low] += seen


def count(symbols: Symbols, alphabet: int) -> Counts:
    """How often each of `alphabet` symbols occurs, the plain way.

    >>> count(np.array([0, 2, 2], dtype=np.uint8), 3)
    array([1, 0, 2])
    """
    return np.bincount(symbols, minlength=alphabet).astype(np.int64)


def entropy(counts: Counts) -> float:
    """Empirical entropy of the symbols, in bits for all of them together.

    >>> entropy(np.array([2, 2]))
    4.0
    """
    seen = counts[counts > 0].astype(np.float64)
    return float(seen @ (np.log2(seen.sum()) - np.log2(seen)))
