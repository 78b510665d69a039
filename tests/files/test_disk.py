"""What changes a disk goes through one seam, where tests let it fail."""

import re
from pathlib import Path

import lossyfl
from lossyfl.files import disk

SOURCES = Path(lossyfl.__file__).parent
ELSEWHERE = ("data/sources", "files")
"""Files of a moment in folders of one's own, and the seam itself."""


def test_results_are_written_through_the_seam() -> None:
    writes = re.compile(r"\.write_(text|bytes)\(|\bopen\([^)]*[\"'][wax]b?\+?[\"']")
    own = [path for path in SOURCES.rglob("*.py") if writes.search(path.read_text())]
    names = [path.relative_to(SOURCES).as_posix() for path in own]
    assert [name for name in names if not name.startswith(ELSEWHERE)] == []


def test_lines_are_added_in_one_write(tmp_path: Path) -> None:
    seen: list[disk.Operation] = []
    with disk.watched(seen.append):
        disk.append(tmp_path / "lines", "a\n")
        disk.append(tmp_path / "lines", "b\nc\n")
    assert (tmp_path / "lines").read_text() == "a\nb\nc\n"
    assert [bytes(each.data) for each in seen] == [b"a\n", b"b\nc\n"]
