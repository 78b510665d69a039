"""Counting symbols: the reference of histogram.c."""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.native import native


@native("s[] i64[]! u32[]! -> i")
def count(
    symbols: NDArray[np.uint8 | np.uint16], counts: NDArray[np.int64], lanes: NDArray[np.uint32]
) -> int:
    """Add how often each symbol occurs to `counts`; -1 if one of them has no count.

    lanes: room for four counters a symbol, which the library needs for uint16
    """
    del lanes
    seen = np.bincount(symbols, minlength=len(counts))
    if len(seen) > len(counts):
        return -1
    counts += seen
    return 0
