"""All or nothing."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lossyfl.files.atomic import write_atomically


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def pieces() -> Iterator[bytes]:
        yield b"new"
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, pieces())
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]
    write_atomically(path, [b"ne", memoryview(b"w")])
    assert path.read_bytes() == b"new"
