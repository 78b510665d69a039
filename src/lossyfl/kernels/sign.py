"""The sign of every entry, and the mean magnitude of every block."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.native import native

LANES = 8


@native("f32[] i64[] u8[]! f32[]! -> i")
def signs(
    x: NDArray[np.float32],
    bounds: NDArray[np.int64],
    symbols: NDArray[np.uint8],
    means: NDArray[np.float32],
) -> int:
    """Write 1 for plus, which zero is, and 0 for minus, and the means; how many are plus.

    Magnitudes are added in eight sums: one would wait for itself.
    """
    plus = 0
    for block, (start, stop) in enumerate(pairwise(bounds.tolist())):
        symbols[start:stop] = x[start:stop] >= 0
        plus += int(symbols[start:stop].sum(dtype=np.int64))
        magnitudes = np.abs(x[start:stop].astype(np.float64))
        whole = len(magnitudes) // LANES * LANES
        parts = np.zeros(LANES)
        if whole:
            parts = np.add.accumulate(magnitudes[:whole].reshape(-1, LANES), axis=0)[-1]
        parts[0] = np.add.accumulate(np.append(parts[0], magnitudes[whole:]))[-1]
        total = np.add.accumulate(parts)[-1]
        means[block] = total / (stop - start) if stop > start else 0
    return plus
