"""Blosc buffers, put together by hand as the format says."""

import struct

import pytest
import zstandard

from lossyfl.data.sources import SourceError
from lossyfl.data.sources.blosc import unpack_blosc

BLOCK = 1000
CONTENT = bytes(i * i % 251 for i in range(2500))


def buffer(content: bytes, *, flags: int = 0x91, width: int = 1) -> bytes:
    cut = [content[i : i + BLOCK] for i in range(0, len(content), BLOCK)]
    packed = [zstandard.ZstdCompressor().compress(block) for block in cut]
    packed[0] = cut[0]  # a block that did not get smaller is plain
    blocks = [struct.pack("<I", len(block)) + block for block in packed]
    offset = 16 + 4 * len(blocks)
    starts = [offset + sum(map(len, blocks[:i])) for i in range(len(blocks))]
    body = struct.pack(f"<{len(starts)}I", *starts) + b"".join(blocks)
    return _head(flags, width, len(content), 16 + len(body)) + body


def _head(flags: int, width: int, size: int, packed: int) -> bytes:
    return struct.pack("<4B3I", 2, 1, flags, width, size, BLOCK, packed)


def test_blocks() -> None:
    assert unpack_blosc(buffer(CONTENT)) == CONTENT


def test_plain_copy() -> None:
    assert unpack_blosc(_head(0x93, 1, 2500, 2516) + CONTENT) == CONTENT


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "cut off"),
        (buffer(CONTENT)[:-1], "another head"),
        (buffer(CONTENT, width=4), "another head"),
        (buffer(CONTENT, flags=0x31), "not packed with Zstandard"),
        (_head(0x91, 1, 2500, 18) + b"ab", "cut off"),
        (buffer(CONTENT)[:-600] + bytes(600), "damaged"),
    ],
)
def test_damage_is_a_clear_error(content: bytes, reason: str) -> None:
    with pytest.raises(SourceError, match=reason):
        unpack_blosc(content)
