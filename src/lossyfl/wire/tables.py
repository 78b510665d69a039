"""Tables and blocks on the wire.

blocks  the header's block field is 0 for one block, n for blocks of n entries (the last may be
shorter), 2^32 - 1 for blocks of any lengths: their number and lengths follow as varints
uniform float32 high of every block; and low of every block, before it, if the alphabet is even
book    float32 value of every symbol, block by block
scaled  float32 value of every symbol, then float32 scale of every block
"""

import math
import struct

import numpy as np

from lossyfl.errors import FrameError
from lossyfl.types import LEAST_UNIFORM, Bounds, Codebook, Scaled, Table, UniformTable, Vector

LISTED = 2**32 - 1
_FLOAT = struct.Struct("<f")


def block_field(bounds: Bounds) -> int:
    """The header's block field."""
    if len(bounds) == 2:
        return 0
    lengths = np.diff(bounds)
    even = (lengths[:-1] == lengths[0]).all() and lengths[-1] <= lengths[0] < LISTED
    return int(lengths[0]) if even else LISTED


def write_blocks(bounds: Bounds) -> bytes:
    """The lengths of the blocks, if the header's block field does not say them."""
    if block_field(bounds) != LISTED:
        return b""
    lengths = np.diff(bounds).tolist()
    return b"".join(varint(n) for n in [len(lengths), *lengths])


def read_blocks(data: memoryview, entries: int, field: int, *, offset: int) -> tuple[Bounds, int]:
    """The bounds of the blocks, and the number of bytes they took."""
    if field == 0:
        return np.array([0, entries], dtype=np.int64), 0
    if field != LISTED:
        blocks = -(-entries // field)
        if blocks > len(data):  # every block has a table row of four bytes at least
            raise FrameError(offset, f"tables of {blocks} blocks", f"{len(data)} bytes")
        return np.minimum(np.arange(blocks + 1, dtype=np.int64) * field, entries), 0
    count, at = read_varint(data, 0, offset)
    if not 1 <= count <= len(data):
        raise FrameError(offset, "a number of blocks that the frame can hold", count)
    bounds = np.zeros(count + 1, dtype=np.int64)
    for block in range(count):
        length, end = read_varint(data, at, offset)
        if not 1 <= length <= entries - bounds[block]:
            raise FrameError(offset + at, "lengths of blocks that sum to the entries", length)
        bounds[block + 1] = bounds[block] + length
        at = end
    if bounds[-1] != entries:
        raise FrameError(offset, f"lengths of blocks that sum to {entries}", int(bounds[-1]))
    return bounds, at


def write_table(table: Table) -> bytes:
    """The floats of a table."""
    if isinstance(table, Codebook):
        return table.values.astype("<f4").tobytes()
    if isinstance(table, Scaled):
        return np.concatenate([table.row, table.scales]).astype("<f4").tobytes()
    low = table.low.astype("<f4").tobytes() if table.alphabet % 2 == 0 else b""
    return low + table.high.astype("<f4").tobytes()


def table_nbytes(form: int, alphabet: int, blocks: int) -> int:
    """The size of a table of this form."""
    if form == Codebook.form:
        return 4 * alphabet * blocks
    if form == Scaled.form:
        return 4 * (alphabet + blocks)
    return 4 * blocks * (2 if alphabet % 2 == 0 else 1)


def read_table(data: memoryview, form: int, alphabet: int, blocks: int, *, offset: int) -> Table:
    """The table behind `write_table`; every value is checked to be finite."""
    size = table_nbytes(form, alphabet, blocks)
    if size > len(data):
        raise FrameError(offset, f"{size} bytes of tables", len(data))
    if form == UniformTable.form and blocks == 1:
        table = read_one_uniform(data, alphabet)
        if table is not None:
            return table
    values = np.frombuffer(data, dtype="<f4", count=size // 4).astype(np.float32)
    finite = np.isfinite(values)
    if not finite.all():
        bad = int(np.argmin(finite))
        raise FrameError(offset + 4 * bad, "a finite table value", float(values[bad]))
    if form == Codebook.form:
        return Codebook(values=values.reshape(blocks, alphabet))
    if form == Scaled.form:
        scaled = Scaled(scales=values[alphabet:], row=values[:alphabet])
        if not np.isfinite(scaled.peak):
            raise FrameError(offset, "scales and values whose products are finite", "an overflow")
        return scaled
    return _read_uniform(values, alphabet, blocks, offset)


def read_one_uniform(data: memoryview, alphabet: int) -> UniformTable | None:
    """The uniform table of a single block, the common case; None if there is anything wrong with it."""
    high: float = _FLOAT.unpack_from(data, 0 if alphabet % 2 else 4)[0]
    low: float = 0.0 if alphabet % 2 else _FLOAT.unpack_from(data)[0]
    if alphabet < LEAST_UNIFORM or not 0 <= low <= high < math.inf or math.copysign(1, low) < 0:
        return None
    one = np.array([[low], [high]], dtype=np.float32)
    return UniformTable(low=one[0], high=one[1], alphabet=alphabet)


def _read_uniform(values: Vector, alphabet: int, blocks: int, offset: int) -> UniformTable:
    """The uniform table of finite floats; comparisons are such that no NaN would pass them either."""
    if alphabet < LEAST_UNIFORM:
        raise FrameError(6, f"a uniform table of at least {LEAST_UNIFORM} symbols", alphabet)
    high = values[-blocks:]
    low = values[:blocks] if alphabet % 2 == 0 else np.zeros_like(high)
    wrong = ~((low >= 0) & (low <= high)) | np.signbit(low)
    if wrong.any():
        bad = int(np.argmax(wrong))
        raise FrameError(offset + 4 * bad, "0 <= low <= high", (float(low[bad]), float(high[bad])))
    return UniformTable(low=low, high=high, alphabet=alphabet)


def varint(n: int) -> bytes:
    """Seven bits a byte, the lowest first, the top bit set on all but the last."""
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def read_varint(data: memoryview, at: int, offset: int) -> tuple[int, int]:
    """The number at `at`, and where it ends."""
    n = 0
    for place in range(9):
        if at + place >= len(data):
            break
        byte = data[at + place]
        n |= (byte & 127) << (7 * place)
        if byte < 128:
            return n, at + place + 1
    raise FrameError(offset + at, "a varint of at most 9 bytes", "none")
