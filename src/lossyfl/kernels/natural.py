"""Natural compression: for every entry one of the two powers of two around it."""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.native import native
from lossyfl.kernels.random_words import drawn

NEGATIVE = 512
"""What is added to the code of a power of two for a negative entry."""
FRACTION = np.uint32(0x7FFFFF)


@native("u32[] u u i u16[]! -> i")
def draw_powers(
    x: NDArray[np.uint32], a: int, b: int, start: int, codes: NDArray[np.uint16]
) -> int:
    """Write 0 for zero, e + 150 for 2^e, 512 more for a negative entry; `x` as bits, from entry `start` on.

    A number below the smallest exponent is a whole number of steps of 2^-149: converted to a float it has
    an exponent and a fraction of its own.
    """
    small = (x & FRACTION).astype(np.float32).view(np.uint32)
    exponent = ((x >> np.uint32(23)) & np.uint32(255)).astype(np.int32)
    normal = exponent != 0
    exponent = np.where(normal, exponent, (small >> np.uint32(23)).astype(np.int32) - 149)
    fraction = np.where(normal, x, small) & FRACTION
    up = (drawn(a, b, start, start + len(x)) >> np.uint32(8)) < np.uint32(2) * fraction
    sign = NEGATIVE * (x >> np.uint32(31)).astype(np.int32)
    codes[:] = np.where(x << np.uint32(1) != 0, sign + exponent + 23 + up, 0)
    return 0
