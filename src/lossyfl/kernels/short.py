"""The coded symbols of a short frame, of one segment of letters, in one call: the reference of short.c.

Calls cost more than coding where a vector has a few thousand entries. Whatever else a frame may be is left to
the kernels that do one step each, which also say what is wrong with it.
"""

import struct

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.counts import table_room
from lossyfl.kernels.model import MAX_LETTERS, Counts, letters_of
from lossyfl.kernels.native import native, reference
from lossyfl.kernels.plan import PREAMBLE, open_model, plan
from lossyfl.kernels.rans import STATE_WORDS, Symbols, pop_segments, push_segments
from lossyfl.kernels.values import ladder_rows

NOT_SHORT = -2

Bytes = NDArray[np.uint8]


def room_for(entries: int, alphabet: int) -> int:
    """Bytes that `write_short` needs, unless letters are much smaller than they might be.

    >>> room_for(9_000, 5) / 9_000 < 1.02
    True
    """
    largest = next((k for k in range(8, 0, -1) if letters_of(alphabet, k) > 0), 1)
    group = largest - 1 if largest > 2 else largest
    return 2 * (-(-entries // group) + STATE_WORDS + 1 + PREAMBLE + table_room(alphabet))


@native("u8[] i64[] i u8[]! -> i")
def write_short(symbols: Symbols, counts: Counts, limit: int, words: Bytes) -> int:
    """Write group, segments, table and segment so that they end where `words` ends.

    Returns where they begin; -1 if counts are impossible; -2 if it is no body of one segment of letters, of
    less than `limit` bytes as planned, or there is no room.
    """
    n = len(counts)
    if not 2 <= n <= MAX_LETTERS or not len(symbols) or len(words) % 2:
        return NOT_SHORT
    weights, frequencies = np.empty(n, np.uint64), np.empty(MAX_LETTERS, np.uint64)
    table, found = np.empty(table_room(n), np.uint8), np.empty(4, np.int64)
    if reference(plan)(counts, weights, table, frequencies, found) < 0:
        return -1
    group, segments, nbytes, size = found.tolist()
    if segments != 1 or not group or nbytes >= limit:
        return NOT_SHORT
    share, head = -(-len(symbols) // group), PREAMBLE + size
    if len(words) // 2 - head < share + STATE_WORDS + 1:
        return NOT_SHORT
    first, frequencies = np.empty(1, np.int64), frequencies[: n**group]
    filler, push = int(counts.argmax()), reference(push_segments)
    if push(symbols, n, group, filler, frequencies, share, 1, words, first) < 0:
        return -1
    begin, end = int(first[0]) - head, int(first[0])
    words[begin : begin + PREAMBLE] = np.frombuffer(struct.pack("<BH", group, 1), np.uint8)
    words[begin + PREAMBLE : end] = table[:size]
    return begin


@native("u8[] i f f f32[]! -> i")
def read_short(
    data: Bytes, alphabet: int, low: float, high: float, out: NDArray[np.float32]
) -> int:
    """Fill `out` with the values that such a body stands for, in a uniform table from `low` to `high`.

    Returns 0; -2 if it is another body, or one that no encoder wrote: `out` may hold anything then.
    """
    if not 3 <= alphabet <= MAX_LETTERS or not len(out) or len(data) < PREAMBLE:
        return NOT_SHORT
    group, segments = struct.unpack("<BH", data[:PREAMBLE].tobytes())
    if letters_of(alphabet, group) < 1 or segments != 1:
        return NOT_SHORT
    weights = np.empty(alphabet, np.uint64)
    frequencies = np.empty(letters_of(alphabet, group), np.uint64)
    size = reference(open_model)(data[PREAMBLE:], group, weights, frequencies)
    rest = data[PREAMBLE + size :]
    if size < 0 or len(rest) % 2 or np.count_nonzero(weights) == 1:
        return NOT_SHORT
    row = np.empty(alphabet, np.float32)
    ends = np.array([[low], [high]], dtype=np.float32)
    reference(ladder_rows)(ends[0], ends[1], alphabet, row)
    edges, share = np.array([0, len(rest) // 2]), -(-len(out) // group)
    pop = reference(pop_segments)
    return (
        0 if pop(rest, edges, frequencies, row, alphabet, group, share, 1, out) == -1 else NOT_SHORT
    )
