"""Records: fields by name, as every framework can carry them, with frames and exact arrays inside.

The first record, `lossyfl`, has a few fields. Frames are one run of bytes behind it, cut into pieces that
even a slow link moves well within a framework's timeout of a request (Flower's is 30 s). Where every record
is a request of its own, fewer are faster, so a short run of bytes lies in the first record.

`FORMAT` is the number of this layout of fields, and of the version of frames.
"""

import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import cast

from lossyfl import __version__
from lossyfl.adapters.arrays import Array
from lossyfl.adapters.exact import Exact
from lossyfl.adapters.fields import Fields, Value
from lossyfl.adapters.layout import MOST_AXES
from lossyfl.adapters.logs import shown
from lossyfl.errors import LossyflError
from lossyfl.wire.header import VERSION

FORMAT = f"1.{VERSION}"
RECORD = "lossyfl"
INLINE = 1 << 14
"""Up to so many bytes lie in the first record, which saves a request; more are shared by all messages."""
PIECE = 1 << 18
"""Bytes of one record: 30 s at 70 kbit/s, Flower's timeout, and few enough requests for a large model."""
_SIZE = re.compile("[0-9]{1,18}", re.ASCII)

Records = dict[str, dict[str, Value]]
"""What we send; what others send is a mapping of anything."""


class Foreign(LossyflError):
    """A message that is not ours, or of another version: what it is, and what to do."""


def pack(fields: Mapping[str, Value], frames: Sequence[bytes], exact: Exact) -> Records:
    """The first record of a message; `pack_frames` makes the others."""
    run = b"".join(frames) if sum(map(len, frames)) <= INLINE else b""
    head: dict[str, Value] = {"format": FORMAT, "lossyfl": __version__}
    # Flower cannot count the bytes of a record with an empty value: those are left out.
    head |= {name: value for name, value in fields.items() if value != ""}
    if frames:
        head["sizes"] = [len(frame) for frame in frames]
    for name, array in exact.items():
        head[f"exact.{name}"] = [array.dtype, array.stype, *map(str, array.shape)]
        head[f"bytes.{name}"] = array.data
    if 0 < len(run) <= INLINE:
        head["run"] = run
    return {RECORD: head}


def pack_frames(frames: Sequence[bytes]) -> Records:
    """The records of frames that are too long for the first one."""
    run = b"".join(frames)
    if len(run) <= INLINE:
        return {}
    starts = range(0, len(run), PIECE)
    return {
        piece_name(number): {"run": run[start : start + PIECE]}
        for number, start in enumerate(starts)
    }


def piece_name(number: int) -> str:
    """The name of a record of frames behind the first one."""
    return f"{RECORD}.{number}"


def unpack(
    records: Mapping[str, Fields], *, sender: str
) -> tuple[Fields, tuple[bytes, ...], Exact] | None:
    """The fields, frames and exact arrays of our records; None if there are none of ours."""
    if RECORD not in records:
        return None
    fields = records[RECORD]
    if fields.get("format") != FORMAT:
        raise Foreign(
            f"{sender} has lossyfl {shown(fields.get('lossyfl'))} with messages of format "
            f"{shown(fields.get('format'))}, here is {__version__} with {FORMAT}: install the same "
            "lossyfl on both sides"
        )
    with damage(sender):
        return fields, _cut(_run(records), fields.get("sizes", [])), _read_exact(fields)


@contextmanager
def damage(sender: str) -> Generator[None]:
    """Whatever cannot be read is the sender's fault, and says so in one line."""
    try:
        yield
    except (KeyError, ValueError, TypeError) as error:
        raise Foreign(f"the lossyfl record of {sender} is damaged: {shown(error)}") from error


def _run(records: Mapping[str, Fields]) -> bytes:
    """The bytes of all frames, of the first record and those behind it."""
    pieces = [records[RECORD].get("run", b"")]
    while (name := piece_name(len(pieces) - 1)) in records:
        pieces.append(records[name].get("run"))
    for number, piece in enumerate(pieces):
        if not isinstance(piece, bytes):
            raise TypeError(f"piece {number} has no bytes")
    return b"".join(cast("list[bytes]", pieces))


def _cut(run: bytes, sizes: object) -> tuple[bytes, ...]:
    """The frames in a run of bytes."""
    if not isinstance(sizes, list):
        raise TypeError("sizes is no list")
    frames: list[bytes] = []
    at = 0
    for size in cast("list[object]", sizes):
        if type(size) is not int or not 0 <= size <= len(run) - at:
            raise ValueError(f"a frame of {shown(size)} bytes where {len(run) - at} are left")
        frames.append(run[at : at + size])
        at += size
    if at != len(run):
        raise ValueError(f"{len(run) - at} bytes behind the frames")
    return tuple(frames)


def _read_exact(fields: Fields) -> Exact:
    """Arrays that travel exactly; `check_exact` compares them with the model."""
    arrays: dict[str, Array] = {}
    for field_name, value in fields.items():
        if not field_name.startswith("exact."):
            continue
        name = field_name.removeprefix("exact.")
        data = fields[f"bytes.{name}"]
        facts = cast("list[object]", value) if isinstance(value, list) else []
        if not isinstance(data, bytes) or not all(isinstance(fact, str) for fact in facts):
            raise TypeError(f"array {shown(name)} has no bytes, or facts that are no texts")
        dtype, stype, *shape = cast("list[str]", facts)
        if len(shape) > MOST_AXES or not all(_SIZE.fullmatch(size) for size in shape):
            raise ValueError(f"array {shown(name)} has no shape")
        arrays[name] = Array(dtype, tuple(map(int, shape)), stype, data)
    return arrays
