"""Files as bytes, whether they are plain, gzip or xz."""

import gzip
import io
import lzma
import zlib
from pathlib import Path

from lossyfl.errors import InputError

MOST = 1 << 26
"""No file of any data set is longer once unpacked; more is damage or malice."""

DAMAGE = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)


def read_bytes(path: Path) -> bytes:
    """The content of a file, unpacked if its name ends in .gz or .xz."""
    try:
        with _open(path) as file:
            content = file.read(MOST + 1)
    except DAMAGE as error:
        kind = path.suffix.removeprefix(".")
        raise InputError(
            "content", of=str(path), allowed=f"whole {kind} data", got=f"{error}"
        ) from None
    except OSError as error:
        raise InputError(
            "file", of="the data", allowed="readable", got=f"{path}: {error.strerror}"
        ) from None
    if len(content) > MOST:
        raise InputError("size", of=str(path), allowed=f"at most {MOST:,} bytes", got="more")
    return content


def _open(path: Path) -> gzip.GzipFile | lzma.LZMAFile | io.BufferedReader:
    """The file, opened for reading what is packed in it."""
    if path.suffix == ".gz":
        return gzip.open(path, "rb")
    if path.suffix == ".xz":
        return lzma.open(path, "rb")
    return path.open("rb")
