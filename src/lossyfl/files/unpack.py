"""Files as bytes, whether they are plain, gzip or xz."""

import gzip
import io
import lzma
import zlib
from pathlib import Path

from lossyfl.errors import InputError

MOST = 1 << 26
"""No file of a data set or of a run is longer once unpacked; more is damage or malice."""

MOST_WINDOW = 1 << 27
"""Bytes that unpacking xz may take besides; `xz -9` asks for half of it, a header could ask for 4 GB."""

DAMAGE = (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError)


def read_unpacked(path: Path, *, of: str) -> bytes:
    """The content of a file, unpacked if its name ends in .gz or .xz."""
    try:
        with _open(path) as file:
            content = _unxz(file.read()) if path.suffix == ".xz" else file.read(MOST + 1)
    except DAMAGE as error:
        kind = path.suffix.removeprefix(".")
        raise InputError(
            "content", of=str(path), allowed=f"whole {kind} data", got=f"{error}"
        ) from None
    except OSError as error:
        raise InputError(
            "file", of=of, allowed="readable", got=f"{path}: {error.strerror}"
        ) from None
    if len(content) > MOST:
        raise InputError("size", of=str(path), allowed=f"at most {MOST:,} bytes", got="more")
    return content


def _open(path: Path) -> gzip.GzipFile | io.BufferedReader:
    """The file, opened for reading; what xz has packed, as it is."""
    return gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb")


def _unxz(data: bytes) -> bytes:
    """The content of xz data, one stream after the other; `lzma.open` knows no limit of memory."""
    content = b""
    while len(content) <= MOST:
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MOST_WINDOW)
        content += stream.decompress(data, MOST + 1 - len(content))
        if not stream.eof and len(content) <= MOST:
            raise EOFError("it ends too early")
        data = stream.unused_data.lstrip(b"\0")
        if not data:
            break
    return content
