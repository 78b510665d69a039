"""Whether rows and columns tell nothing of symbols, found on a few of them: then no classes are looked for.

Sums of magnitudes of rows, and of columns, vary by chance; what they vary beyond is compared with their
mean, as in an analysis of variance, and so are signs of rows. Sums are whole numbers and what follows is of
operations that are rounded alike everywhere, so that all machines decide alike.
"""

import math

import numpy as np
from numpy.typing import NDArray

from lossyfl.types import Symbols
from lossyfl.wire.shapes import Shapes

ROWS, COLUMNS = 128, 256
"""Of a matrix, that are looked at."""
LARGEST = 15
ENOUGH = 1024
"""Fewer magnitudes tell nothing."""
DIFFERENCE = 0.02
"""Of rates, squared: it would save some 0.3 % of a frame."""
CHANCE = 2.0
"""Standard deviations that are taken for chance."""
MEANS = 1.15
SMALL = 64
"""Tensors of less than such a part of all entries may be as they like."""


def is_even(symbols: Symbols, alphabet: int, shapes: Shapes) -> bool:
    """Whether all rows and columns look alike."""
    steps = 2 * np.arange(alphabet) - (alphabet - 1)
    sizes = np.minimum(np.abs(steps) // 2, LARGEST).astype(np.uint8)
    signs = (np.sign(steps) * (sizes > 0)).astype(np.int8)
    means: list[float] = []
    start = 0
    for rows, columns, run in shapes.reshape(-1, 3).tolist():
        entries = rows * columns * run
        own = symbols[start : start + entries].reshape(rows, columns * run)
        start += entries
        if SMALL * entries < len(symbols):
            continue
        some = own[:: -(-rows // ROWS), :: -(-columns * run // COLUMNS)]
        mean = _mean_of_even(sizes[some], signs[some])
        if mean is None:
            return False
        means.append(mean)
    return bool(means) and max(means) < MEANS * min(means)


def _mean_of_even(sizes: NDArray[np.uint8], signs: NDArray[np.int8]) -> float | None:
    """The mean magnitude; None if rows or columns differ, or too little is known."""
    total, busy = int(sizes.sum(dtype=np.int64)), int(np.count_nonzero(sizes))
    if total < ENOUGH:
        return None
    leans = signs.sum(1, dtype=np.int64)
    by_chance = CHANCE * math.sqrt(2 / len(leans))
    if int((leans * leans).sum()) / busy - 1 > DIFFERENCE * busy / len(leans) + by_chance:
        return None
    squares = int((sizes * sizes).sum(dtype=np.int64))
    for axis in (0, 1):
        if _differ(sizes.sum(axis, dtype=np.int64), sizes.shape[axis], squares):
            return None
    return total / sizes.size


def _differ(sums: NDArray[np.int64], each: int, squares: int) -> bool:
    """Whether means of so many magnitudes each vary by more than chance and a part of them."""
    count, total, by_sum = len(sums), int(sums.sum()), int((sums * sums).sum())
    if min(count, each) < 2:
        return False
    between = (by_sum / each - total * total / (count * each)) / (count - 1)
    within = (squares - by_sum / each) / (count * each - count)
    allowed = DIFFERENCE * each * (total / (count * each)) ** 2
    return between - within > allowed + CHANCE * math.sqrt(2 / count) * within
