"""What the symbols of dithered steps will take, before any is drawn."""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.logarithms import exp_of_minus, log2_of
from lossyfl.kernels.native import native

Floats = NDArray[np.float64]

COUNT_BITS = 14
"""About what the count of a symbol takes."""


@native("f64[] i64[] d f64[]! -> d")
def expected_bits(
    values: Floats, counts: NDArray[np.int64], step: float, expected: Floats
) -> float:
    """Bits of symbols and counts: a value between two multiples of the step becomes either, by nearness.

    values:   in ascending order; a row of counts for those that are not negative, one for the others
    expected: room for two rows of levels, which are overwritten
    """
    share = values / step
    levels = int(share[-1]) + 2
    room = expected.ravel()[: 2 * levels].reshape(2, levels)
    room[:] = 0
    level = share.astype(np.int64)
    parts = np.stack([1 - (share - level), share - level], axis=1)
    where = level[:, None, None] + np.arange(2)[:, None] * levels + np.arange(2)
    np.add.at(room.ravel(), where, counts.T[:, :, None].astype(np.float64) * parts[:, None, :])
    room[0, 0] += room[1, 0]  # there is one zero
    room[1, 0] = 0
    entries = room.ravel()
    total = np.add.accumulate(entries)[-1]
    some = np.where(entries > 0, entries, 1.0)
    taken = some * log2_of(total / some) + COUNT_BITS * (1 - exp_of_minus(some))
    entries[:] = np.where(entries > 0, taken, 0.0)
    return float(np.add.accumulate(entries)[-1])
