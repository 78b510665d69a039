"""How often each symbol occurs.

Counting one symbol after the other is slow when one of them dominates: every increment waits for
the store of the last one. So bytes are counted as pairs, into two tables in turn, and the pairs
are folded into counts of single symbols at the end.
"""

import numpy as np
from numpy.typing import NDArray

from lossyfl.jit import kernel
from lossyfl.types import Counts, Symbols


def new_tally() -> NDArray[np.int64]:
    """Two empty tables of 65,536 counters; pages that no symbol touches cost nothing."""
    return np.zeros((2, 65_536), dtype=np.int64)


@kernel
def tally(pairs: NDArray[np.uint16], tables: NDArray[np.int64]) -> None:
    """Count 16-bit values: pairs of uint8 symbols, or single uint16 symbols."""
    for i in range(len(pairs) // 2):
        j = np.uint64(2 * i)
        tables[np.uint64(0), pairs[j]] += 1
        tables[np.uint64(1), pairs[j + np.uint64(1)]] += 1
    if len(pairs) % 2:
        tables[0, pairs[len(pairs) - 1]] += 1


@kernel
def fold_pairs(tables: NDArray[np.int64], counts: NDArray[np.int64]) -> None:
    """Add the tally of pairs of uint8 symbols to the counts of single symbols."""
    for high in range(len(counts)):
        for low in range(len(counts)):
            seen = tables[0, high * 256 + low] + tables[1, high * 256 + low]
            counts[high] += seen
            counts[low] += seen


def fold(tables: NDArray[np.int64], alphabet: int) -> Counts:
    """The counts of single symbols behind a tally."""
    if alphabet > 256:
        return tables[:, :alphabet].sum(axis=0)
    counts = np.zeros(alphabet, dtype=np.int64)
    fold_pairs(tables, counts)
    return counts


def count(symbols: Symbols, alphabet: int) -> Counts:
    """How often each of `alphabet` symbols occurs, the plain way.

    >>> count(np.array([0, 2, 2], dtype=np.uint8), 3)
    array([1, 0, 2])
    """
    return np.bincount(symbols, minlength=alphabet).astype(np.int64)
