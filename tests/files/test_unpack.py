"""Plain, gzip and xz files, whole and damaged."""

import gzip
import lzma
import tracemalloc
import zlib
from pathlib import Path

import pytest

from lossyfl.errors import InputError
from lossyfl.files import unpack
from lossyfl.files.unpack import read_unpacked

CONTENT = bytes(range(256)) * 40
PACKED = {"": CONTENT, ".gz": gzip.compress(CONTENT), ".xz": lzma.compress(CONTENT)}


@pytest.mark.parametrize("end", PACKED)
def test_content_comes_back(end: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{end}"
    path.write_bytes(PACKED[end])
    assert read_unpacked(path, of="the data") == CONTENT


@pytest.mark.parametrize("end", [".gz", ".xz"])
@pytest.mark.parametrize("damage", ["cut", "flipped", "other", "empty"])
def test_damage_is_a_clear_error(end: str, damage: str, tmp_path: Path) -> None:
    whole = PACKED[end]
    middle = len(whole) // 2
    kinds = {
        "cut": whole[:middle],
        "flipped": whole[:middle] + bytes([whole[middle] ^ 255]) + whole[middle + 1 :],
        "other": b"<html>not found</html>",
        "empty": b"",
    }
    path = tmp_path / f"x{end}"
    path.write_bytes(kinds[damage])
    if (end, damage) == (".gz", "empty"):
        assert (
            read_unpacked(path, of="the data") == b""
        )  # an empty gzip file is valid; the readers refuse it
        return
    with pytest.raises(InputError, match=f"content of .*x{end} must be whole {end[1:]} data"):
        read_unpacked(path, of="the data")


@pytest.mark.parametrize("end", PACKED)
def test_bombs_are_refused(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "MOST", len(CONTENT) - 1)
    path = tmp_path / f"x{end}"
    path.write_bytes(PACKED[end])
    with pytest.raises(InputError, match="must be at most 10,239 bytes, got more"):
        read_unpacked(path, of="the data")


def wide_window() -> bytes:
    """An xz file that asks for a window of 4 GB: one byte of its block's header, and the sum behind it."""
    data = bytearray(PACKED[".xz"])
    size = 4 * data[12]
    data[16] = 40
    data[12 + size : 16 + size] = zlib.crc32(data[12 : 12 + size]).to_bytes(4, "little")
    return bytes(data)


@pytest.mark.parametrize("content", [b"\0" + b"\xff" * 8 + b"\0" * 4, wide_window()])
def test_memory_is_not_what_a_file_asks_for(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.xz"
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match="must be whole xz data"):
            read_unpacked(path, of="the data")
        assert tracemalloc.get_traced_memory()[1] < unpack.MOST_WINDOW
    finally:
        tracemalloc.stop()


def test_several_xz_streams_are_one_file(tmp_path: Path) -> None:
    path = tmp_path / "x.xz"
    path.write_bytes(PACKED[".xz"] * 2 + bytes(8))
    assert read_unpacked(path, of="the data") == CONTENT * 2


def test_unreadable_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"file of the data must be readable, got .*No such file"):
        read_unpacked(tmp_path / "x", of="the data")
