"""Files that anybody may have written: their bytes, text and JSON, or an error that says what is wrong."""

import json
from pathlib import Path

from lossyfl.errors import InputError


def read_bytes(path: Path, *, of: str) -> bytes:
    """All bytes of a file."""
    require_file(path, of=of)
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError("file", of=of, allowed="one that can be read", got=str(error)) from error


def read_text(path: Path, *, of: str) -> str:
    """All text of a file, which is UTF-8."""
    return decoded(read_bytes(path, of=of), of=path.name)


def decoded(content: bytes, *, of: str) -> str:
    """The text that bytes are in UTF-8; InputError if they are none."""
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise InputError("content", of=of, allowed="UTF-8", got=str(error)) from error


def parse_json(text: str | bytes, *, of: str) -> object:
    """What JSON says; of bytes, it is UTF-8."""
    try:
        return json.loads(text.decode() if isinstance(text, bytes) else text)
    except (ValueError, RecursionError) as error:  # of thousands of digits or brackets, too
        raise InputError("content", of=of, allowed="JSON", got=str(error)) from error


def require_file(path: Path, *, of: str) -> None:
    """Raise for a folder, a pipe, a device, or nothing: to read some of these takes forever."""
    try:
        found = path.is_file()
    except (OSError, ValueError) as error:  # a name that no file can have
        raise InputError("file", of=of, allowed="one that exists", got=str(error)) from error
    if not found:
        raise InputError("file", of=of, allowed="one that exists", got=str(path))
