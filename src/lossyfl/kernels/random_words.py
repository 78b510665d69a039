"""The bits of a stream, which `lossyfl.streams` describes."""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.native import native, reference

GAMMA = np.uint64(0x9E3779B97F4A7C15)
MIX_A = np.uint64(0xBF58476D1CE4E5B9)
MIX_B = np.uint64(0x94D049BB133111EB)


@native("u u i u32[]! -> i")
def random_bits(a: int, b: int, start: int, bits: NDArray[np.uint32]) -> int:
    """Write the 32 random bits of the entries from `start` on, for the stream with the key (a, b)."""
    stop = start + len(bits)
    words = np.arange(start // 2, (stop + 1) // 2, dtype=np.uint64)
    z = np.uint64(a) + words * GAMMA
    z = (z ^ (z >> np.uint64(30)) ^ np.uint64(b)) * MIX_A
    z = (z ^ (z >> np.uint64(27))) * MIX_B
    z ^= z >> np.uint64(31)
    halves = np.stack([z & np.uint64(0xFFFFFFFF), z >> np.uint64(32)], axis=1).astype(np.uint32)
    bits[:] = halves.ravel()[start % 2 : start % 2 + len(bits)]
    return 0


def drawn(a: int, b: int, start: int, stop: int) -> NDArray[np.uint32]:
    """The bits of the entries [start, stop), for the references of kernels that draw them themselves."""
    bits = np.empty(stop - start, dtype=np.uint32)
    reference(random_bits)(a, b, start, bits)
    return bits
