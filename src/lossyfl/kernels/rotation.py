"""The Walsh-Hadamard transform, which `lossyfl.wire.rotation` describes."""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.native import native


@native("u32[]! u32[] -> i")
def flip_signs(z: NDArray[np.uint32], words: NDArray[np.uint32]) -> int:
    """Change the sign of entry i, given as bits, where bit i mod 32 of word i // 32 is set."""
    place = np.arange(len(z))
    z ^= (words[place >> 5] >> (place & 31).astype(np.uint32)) << np.uint32(31)
    return 0


@native("f32[]! f -> i")
def hadamard_stages(z: NDArray[np.float32], scale: float) -> int:
    """Make it scale * H z: the scale first, which keeps large entries from overflowing, and all stages."""
    z *= np.float32(scale)
    stride = 1
    while stride < len(z):
        pairs = z.reshape(-1, 2, stride)
        low, high = pairs[:, 0].copy(), pairs[:, 1].copy()
        pairs[:, 0], pairs[:, 1] = low + high, low - high
        stride *= 2
    return 0
