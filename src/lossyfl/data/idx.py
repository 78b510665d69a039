"""IDX, the format of MNIST: two zero bytes, the type, the number of axes, their lengths, the entries.

Lengths are 32-bit and big-endian; type 8 is one unsigned byte per entry, the only one in use here.
http://yann.lecun.com/exdb/mnist/ describes it.
"""

import math
import struct
from pathlib import Path

import numpy as np

from lossyfl.data.dataset import Bytes
from lossyfl.errors import InputError
from lossyfl.files.unpack import read_unpacked

LARGEST = 1 << 40
"""The most entries that an array may have, were its empty axes not empty."""


def read_idx(path: Path, *, axes: int) -> Bytes:
    """The array in an IDX file with so many axes."""
    content = read_unpacked(path, of="the data")
    start = 4 + 4 * axes
    magic = bytes([0, 0, 8, axes])
    if content[:4] != magic:
        raise InputError(
            "magic", of=str(path), allowed=magic.hex(" "), got=content[:4].hex(" ") or "nothing"
        )
    if len(content) < start:
        raise InputError(
            "size", of=str(path), allowed=f"at least {start} bytes", got=f"{len(content)} bytes"
        )
    shape = struct.unpack_from(f">{axes}I", content, 4)
    if len(content) - start != math.prod(shape):
        allowed = f"{start + math.prod(shape):,} bytes, as its header says"
        raise InputError("size", of=str(path), allowed=allowed, got=f"{len(content):,} bytes")
    if (
        math.prod(length or 1 for length in shape) > LARGEST
    ):  # of nothing, but NumPy would not have it
        allowed = f"lengths whose product is at most {LARGEST:,}"
        raise InputError("shape", of=str(path), allowed=allowed, got=shape)
    return np.frombuffer(content, np.uint8, offset=start).reshape(shape).copy()


def pack_idx(array: Bytes) -> bytes:
    """The array as an IDX file.

    >>> pack_idx(np.array([7, 9], np.uint8)).hex(" ")
    '00 00 08 01 00 00 00 02 07 09'
    """
    head = struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    return head + array.tobytes()
