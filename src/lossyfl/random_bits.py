"""The bits of a stream, compiled: what `Stream.bits` gives, for those who need many."""

import numpy as np
from numpy.typing import NDArray

from lossyfl.jit import kernel
from lossyfl.streams import GAMMA, MIX_A, MIX_B, Stream

Bits = NDArray[np.uint32]

STRIP = 1 << 16
"""Entries whose bits, and what is made of them, stay in the second-level cache."""


def bits(rng: Stream, start: int, stop: int) -> Bits:
    """The 32 random bits of every entry in [start, stop).

    >>> from lossyfl.streams import stream
    >>> bits(stream(0), 1, 3) == stream(0).bits(1, 3)
    array([ True,  True])
    """
    words = np.empty((stop + 1) // 2 - start // 2, dtype=np.uint64)
    with np.errstate(over="ignore"):  # the hash wraps, which plain Python would report
        _words(np.uint64(rng.a), np.uint64(rng.b), start // 2, words)
    return words.view(np.uint32)[start % 2 : start % 2 + stop - start]


# The stochastic quantizer has a copy inside its own kernel: numba's cache looks at one file only.
@kernel
def _words(a: np.uint64, b: np.uint64, start: int, words: NDArray[np.uint64]) -> None:
    """Words [start, start + len(words)) of the stream with the key (a, b)."""
    for j in range(len(words)):
        z = a + (np.uint64(start) + np.uint64(j)) * GAMMA
        z = (z ^ (z >> np.uint64(30)) ^ b) * MIX_A
        z = (z ^ (z >> np.uint64(27))) * MIX_B
        words[j] = z ^ (z >> np.uint64(31))
