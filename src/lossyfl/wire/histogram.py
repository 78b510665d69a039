"""How often each symbol occurs, and the entropy of that."""

import numpy as np

from lossyfl.errors import InputError
from lossyfl.kernels import histogram
from lossyfl.types import Counts, Symbols


class Tally:
    """Counts symbols piece by piece.

    >>> tally = Tally(3)
    >>> tally.add(np.array([0, 2, 2], dtype=np.uint8))
    >>> tally.counts()
    array([1, 0, 2])
    """

    def __init__(self, alphabet: int) -> None:
        self._counts = np.zeros(alphabet, dtype=np.int64)
        self._lanes = np.empty(4 * alphabet if alphabet > 256 else 0, dtype=np.uint32)

    def add(self, symbols: Symbols) -> None:
        """Count these symbols too."""
        if histogram.count(symbols, self._counts, self._lanes) < 0:
            allowed = f"below the alphabet ({len(self._counts)})"
            raise InputError("symbols", of="Tally", allowed=allowed, got=int(symbols.max()))

    def counts(self) -> Counts:
        """How often each symbol has occurred so far."""
        return self._counts.copy()


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
