"""Blosc buffers of single bytes, packed with Zstandard.

16 bytes of head: version, version of the packer, flags, bytes per entry, then as 32-bit little-endian
numbers the unpacked size, the size of a block, and the packed size. The offset of every block follows;
a block is its packed length and its bytes, which are plain if they are as long as the block.
https://github.com/Blosc/c-blosc/blob/main/README_CHUNK_FORMAT.rst
"""

import struct

from lossyfl.data.sources.source import SourceError
from lossyfl.extras import require

HEAD = struct.Struct("<4B3I")
PLAIN = 0x02  # flag: one plain copy, no blocks
ZSTANDARD = 4  # the packer's number, in the upper three bits of the flags


def unpack_blosc(buffer: bytes) -> bytes:
    """The bytes in a buffer; shuffling moves nothing where an entry is one byte."""
    try:
        _, _, flags, width, size, block, packed = HEAD.unpack_from(buffer)
        if width != 1 or packed != len(buffer) or (size and not block):
            raise SourceError("a Blosc buffer with another head than expected")
        if flags & PLAIN:
            return buffer[HEAD.size : HEAD.size + size]
        if flags >> 5 != ZSTANDARD:
            raise SourceError("a Blosc buffer that is not packed with Zstandard")
        starts = struct.unpack_from(f"<{-(-size // block)}I", buffer, HEAD.size)
        ends = [min((i + 1) * block, size) - i * block for i in range(len(starts))]
        return b"".join(_block(buffer, *pair) for pair in zip(starts, ends, strict=True))
    except struct.error:
        raise SourceError("a Blosc buffer that is cut off") from None


def _block(buffer: bytes, start: int, size: int) -> bytes:
    """One block, unpacked to its known size."""
    (packed,) = struct.unpack_from("<I", buffer, start)
    content = buffer[start + 4 : start + 4 + packed]
    if packed == size:
        return content
    zstandard = require("zstandard", extra="bench")
    try:
        return zstandard.ZstdDecompressor().decompress(content, max_output_size=size)
    except zstandard.ZstdError as error:
        raise SourceError(f"a Blosc block that is damaged: {error}") from None
