"""Files that anybody may have written."""

import os
from pathlib import Path

import pytest

from lossyfl.errors import InputError
from lossyfl.files.reading import parse_json, read_bytes, read_text, require_file


def test_bytes_text_and_json(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes('{"ü": 1}'.encode())
    assert read_bytes(tmp_path / "a", of="me") == b'{"\xc3\xbc": 1}'
    assert read_text(tmp_path / "a", of="me") == '{"ü": 1}'
    assert parse_json(read_bytes(tmp_path / "a", of="me"), of="a") == {"ü": 1}


def test_what_is_no_text(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="content of a must be UTF-8, got"):
        read_text(tmp_path / "a", of="me")


@pytest.mark.parametrize("text", ["{", b"\xff", "[" * 100_000, "9" * 10_000])
def test_what_is_no_json(text: str | bytes) -> None:
    with pytest.raises(InputError, match="content of a must be JSON, got"):
        parse_json(text, of="a")


def test_only_files_are_read(tmp_path: Path) -> None:
    """Opening a pipe would wait for a writer, forever."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "none", tmp_path / "pipe", Path("a\0b"), Path("a" * 5000)):
        with pytest.raises(InputError, match="file of me must be one that exists, got"):
            require_file(path, of="me")


def test_a_file_that_cannot_be_read_is_an_error_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").touch()

    def refuse(_: Path) -> bytes:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(InputError, match=r"file of me must be one that can be read, got .*denied"):
        read_bytes(tmp_path / "a", of="me")
