"""The counts of symbols on the wire: seven significant bits each, a few bits per symbol in use.

A coder needs proportions only. Rounding every count to seven significant bits moves no probability
by more than 0.8 %, which lengthens the code by about 0.002 % and makes the cost of the table
independent of the length of the vector. `kernels/counts.py` has its bits.
"""

import numpy as np

from lossyfl.errors import FrameError
from lossyfl.kernels.counts import read_counts, rounded, table_room, write_counts
from lossyfl.kernels.plan import EQUAL, MAX_TOTAL
from lossyfl.wire.model import Frequencies

__all__ = ["MAX_TOTAL", "read", "refused", "rounded", "write", "write_equal"]


def write(weights: Frequencies) -> bytes:
    """The bytes of rounded counts."""
    out = np.zeros(table_room(len(weights)), dtype=np.uint8)
    return out[: write_counts(weights, out)].tobytes()


def write_equal() -> bytes:
    """The bytes that say: all symbols are equally frequent."""
    return bytes([EQUAL])


def read(data: memoryview, alphabet: int, *, offset: int) -> tuple[Frequencies, int]:
    """Rounded counts and the number of bytes they took."""
    weights = np.empty(alphabet, dtype=np.uint64)
    end = read_counts(np.frombuffer(data, dtype=np.uint8), weights)
    if end < 0 or weights.sum() > MAX_TOTAL:
        raise refused(alphabet, offset)
    if not weights.any():
        weights[:] = 1
    return weights, (end + 7) // 8


def refused(alphabet: int, offset: int) -> FrameError:
    """What is raised for bytes that are no table."""
    expected = f"a table of counts for {alphabet} symbols"
    return FrameError(offset, expected, "one that is cut short, too large, or names others")
