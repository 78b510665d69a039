"""A disk after a power cut: what was not synced may be lost, and disks are free in what they lose.

data   names are there, but not what was written since the last sync of the file
names  content is there, but not what was created, renamed or removed since the last sync of the folder
all    neither
"""

from pathlib import Path
from typing import Literal

from lossyfl.files.atomic import is_temporary
from lossyfl.files.disk import Operation

Loss = Literal["data", "names", "all"]


class Disk:
    """What would be there if the power failed now; told of every operation before it happens.

    _content: of files that were written since, as it was when they were synced
    _names:   of files that were created, replaced or removed since, what was there before; None for nothing
    """

    def __init__(self) -> None:
        self._content: dict[Path, bytes] = {}
        self._names: dict[Path, bytes | None] = {}
        self._temporary: dict[Path, Path] = {}
        self._last: Operation | None = None

    def before(self, operation: Operation) -> None:
        """Take note of an operation; the one before it is done."""
        if self._last is not None:
            self._done(self._last)
        self._last, path = operation, operation.path
        match operation.name:
            case "create" | "unlink" | "replace" if not path.is_dir():
                self._names.setdefault(path, _read(path))
                if operation.name == "create" and is_temporary(path.name):
                    self._temporary[path.parent] = path
                if operation.name == "create":
                    self._content.setdefault(path, b"")
            case "write" | "truncate":
                self._content.setdefault(path, _read(path) or b"")
            case _:
                pass

    def _done(self, operation: Operation) -> None:
        path = operation.path
        match operation.name:
            case "sync":
                self._content.pop(path, None)
            case "flush":
                self._content[path] = path.read_bytes()  # it changes again without a word
            case "replace":
                source = self._temporary[path.parent]
                self._names.pop(source, None)
                self._content.pop(path, None)
                if source in self._content:
                    self._content[path] = self._content.pop(source)
            case "sync-folder":
                for name in [name for name in self._names if name.parent == path]:
                    del self._names[name]
            case _:
                pass

    def lose(self, loss: Loss) -> None:
        """Have the disk as it would be."""
        if loss in ("data", "all"):
            for path, content in self._content.items():
                if path.is_file():
                    _overwrite(path, content)
        if loss in ("names", "all"):
            for path, before in self._names.items():
                path.unlink(missing_ok=True)
                if before is not None:
                    path.parent.mkdir(exist_ok=True)
                    path.write_bytes(before)


def _read(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None


def _overwrite(path: Path, content: bytes) -> None:
    """The name and length may have got there, with nothing in the blocks."""
    size = path.stat().st_size
    path.write_bytes(content[:size] + bytes(max(0, size - len(content))))
