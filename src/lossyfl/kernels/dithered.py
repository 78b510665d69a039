"""What the symbols of dithered steps will take, before any is drawn."""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.logarithms import exp_of_minus, log2_of
from lossyfl.kernels.native import native, reference

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
    entries = np.append(room[room > 0], 0.0)
    total, entries = np.add.accumulate(entries)[-1], entries[:-1]
    taken = entries * log2_of(total / entries) + COUNT_BITS * (1 - exp_of_minus(entries))
    return float(np.add.accumulate(np.append(0.0, taken))[-1])


@native("f64[] i64[] d d d i f64[]! -> d")
def step_for_bits(
    values: Floats,
    counts: NDArray[np.int64],
    bits: float,
    fine: float,
    coarse: float,
    halvings: int,
    expected: Floats,
) -> float:
    """The smallest step that takes so many bits, or the coarsest: the middle of two is their geometric mean.

    The rest is as in `expected_bits`.
    """
    for _ in range(halvings):
        middle = float(np.sqrt(fine * coarse))
        taken = reference(expected_bits)(values, counts, middle, expected)
        fine, coarse = (fine, middle) if taken <= bits else (middle, coarse)
    return coarse
