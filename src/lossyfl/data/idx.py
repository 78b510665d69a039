"""IDX, the format of MNIST: two zero bytes, the type, the number of axes, their lengths, the entries.

Lengths are 32-bit and big-endian. Two types are in use here: 8, an unsigned byte per entry, and 12, a
big-endian 32-bit integer.
http://yann.lecun.com/exdb/mnist/ describes it.
"""

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lossyfl.data.dataset import Array, Bytes
from lossyfl.errors import InputError
from lossyfl.files.unpack import read_unpacked

BYTE = np.dtype("u1")
INT = np.dtype(">i4")
TYPES = {BYTE: 8, INT: 12}

LARGEST = 1 << 40
"""The most entries that an array may have, were its empty axes not empty."""


def read_idx(path: Path, *, axes: int) -> Bytes:
    """The array of bytes in an IDX file with so many axes."""
    return _read(path, axes, BYTE)


def read_ints(path: Path, *, axes: int) -> NDArray[np.int32]:
    """The array of integers in an IDX file, little-endian everywhere: sums of its bytes are the same."""
    return _read(path, axes, INT).astype("<i4")


def _read(path: Path, axes: int, dtype: np.dtype[Any]) -> Array:
    """The entries of this type in a file with so many axes."""
    content = read_unpacked(path, of="the data")
    start = 4 + 4 * axes
    magic = bytes([0, 0, TYPES[dtype], axes])
    if content[:4] != magic:
        raise InputError(
            "magic", of=str(path), allowed=magic.hex(" "), got=content[:4].hex(" ") or "nothing"
        )
    if len(content) < start:
        raise InputError(
            "size", of=str(path), allowed=f"at least {start} bytes", got=f"{len(content)} bytes"
        )
    shape = struct.unpack_from(f">{axes}I", content, 4)
    whole = start + math.prod(shape) * dtype.itemsize
    if len(content) != whole:
        allowed = f"{whole:,} bytes, as its header says"
        raise InputError("size", of=str(path), allowed=allowed, got=f"{len(content):,} bytes")
    if (
        math.prod(length or 1 for length in shape) > LARGEST
    ):  # of nothing, but NumPy would not have it
        allowed = f"lengths whose product is at most {LARGEST:,}"
        raise InputError("shape", of=str(path), allowed=allowed, got=shape)
    return np.frombuffer(content, dtype, offset=start).reshape(shape).copy()


def pack_idx(array: Array) -> bytes:
    """The array as an IDX file: of bytes, or of 32-bit integers.

    >>> pack_idx(np.array([7, 9], np.uint8)).hex(" ")
    '00 00 08 01 00 00 00 02 07 09'
    """
    dtype = BYTE if array.dtype == BYTE else INT
    head = struct.pack(f">4B{array.ndim}I", 0, 0, TYPES[dtype], array.ndim, *array.shape)
    return head + array.astype(dtype).tobytes()
