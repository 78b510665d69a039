"""IDX files."""

from pathlib import Path

import numpy as np
import pytest

from lossyfl.data.idx import pack_idx, read_idx, read_ints
from lossyfl.errors import InputError

IMAGES = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)


def written(tmp_path: Path, content: bytes) -> Path:
    path = tmp_path / "images"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("shape", [(24,), (2, 12), (2, 3, 4), (0, 3, 4)])
def test_round_trip(shape: tuple[int, ...], tmp_path: Path) -> None:
    array = np.resize(IMAGES, shape)
    back = read_idx(written(tmp_path, pack_idx(array)), axes=len(shape))
    assert np.array_equal(back, array)
    assert back.flags.c_contiguous
    assert back.flags.writeable


def test_integers(tmp_path: Path) -> None:
    array = np.array([[1, -2, 1 << 30], [0, 5, -(1 << 31)]], "<i4")
    content = pack_idx(array)
    assert content[:16] == bytes.fromhex("00000c02 00000002 00000003 00000001")
    back = read_ints(written(tmp_path, content), axes=2)
    assert np.array_equal(back, array)
    assert back.dtype.str == "<i4"
    with pytest.raises(InputError, match="must be 36 bytes, as its header says, got 35 bytes"):
        read_ints(written(tmp_path, content[:-1]), axes=2)
    with pytest.raises(InputError, match="must be 00 00 0c 02, got 00 00 08 02"):
        read_ints(written(tmp_path, pack_idx(array.astype(np.uint8))), axes=2)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "magic of .*images must be 00 00 08 03, got nothing"),
        (b"\x00\x00\x08\x01" + pack_idx(IMAGES)[4:], "must be 00 00 08 03, got 00 00 08 01"),
        (b"\x00\x00\x0d\x03" + pack_idx(IMAGES)[4:], "must be 00 00 08 03, got 00 00 0d 03"),
        (pack_idx(IMAGES)[:9], "size of .*images must be at least 16 bytes, got 9 bytes"),
        (pack_idx(IMAGES)[:-1], "must be 40 bytes, as its header says, got 39 bytes"),
        (pack_idx(IMAGES) + b"x", "must be 40 bytes, as its header says, got 41 bytes"),
        (pack_idx(IMAGES)[:4] + b"\xff" * 12, "as its header says, got 16 bytes"),
        (pack_idx(IMAGES)[:4] + b"\xff" * 8 + b"\0" * 4, "shape of .*images must be lengths whose"),
    ],
)
def test_damage_is_a_clear_error(content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=message):
        read_idx(written(tmp_path, content), axes=3)
