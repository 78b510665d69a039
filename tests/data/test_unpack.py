"""Plain, gzip and xz files, whole and damaged."""

import gzip
import lzma
from pathlib import Path

import pytest

from lossyfl.data import unpack
from lossyfl.data.unpack import read_bytes
from lossyfl.errors import InputError

CONTENT = bytes(range(256)) * 40
PACKED = {"": CONTENT, ".gz": gzip.compress(CONTENT), ".xz": lzma.compress(CONTENT)}


@pytest.mark.parametrize("end", PACKED)
def test_content_comes_back(end: str, tmp_path: Path) -> None:
    path = tmp_path / f"x{end}"
    path.write_bytes(PACKED[end])
    assert read_bytes(path) == CONTENT


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
        assert read_bytes(path) == b""  # an empty gzip file is valid; the readers refuse it
        return
    with pytest.raises(InputError, match=f"content of .*x{end} must be whole {end[1:]} data"):
        read_bytes(path)


@pytest.mark.parametrize("end", PACKED)
def test_bombs_are_refused(end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "MOST", len(CONTENT) - 1)
    path = tmp_path / f"x{end}"
    path.write_bytes(PACKED[end])
    with pytest.raises(InputError, match="must be at most 10,239 bytes, got more"):
        read_bytes(path)


def test_unreadable_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"file of the data must be readable, got .*No such file"):
        read_bytes(tmp_path / "x")
