"""What a message of ours holds, as records that Flower carries.

One ConfigRecord `lossyfl` with a few fields, and the frames behind it as one run of bytes, cut into pieces
that even a slow link moves well within Flower's timeout of a request. Every record is a request of
its own, so a short run of bytes lies in the first record.

`FORMAT` is the number of this layout of fields, and of the version of frames.

A message is somebody else's word. `unpack_down` and `unpack_up` look at every type, length and range before
anything is made of it, and raise nothing but Foreign.
"""

import math
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import cast

from flwr.app import Array, ConfigRecord, RecordDict

from lossyfl import __version__
from lossyfl.adapters.folders import TRAINING
from lossyfl.adapters.layout import MOST_AXES, Exact
from lossyfl.adapters.logs import shown
from lossyfl.errors import LossyflError
from lossyfl.protocol.digests import NOTHING, EstimateVersion
from lossyfl.protocol.states import UNKNOWN
from lossyfl.wire.header import VERSION

FORMAT = f"1.{VERSION}"
RECORD = "lossyfl"
INLINE = 1 << 14
"""Up to so many bytes lie in the first record, which saves a request; more are shared by all messages."""
PIECE = 1 << 18
"""Bytes of one record: 30 s at 70 kbit/s, Flower's timeout, and few enough requests for a large model."""
MOST_ROUNDS = 1 << 32
"""Frames count rounds in 32 bits."""
ANY_TEXT = re.compile(".*", re.DOTALL)
_SHORT = re.compile(r"[^\x00-\x1f]{1,1000}")
_DIGEST = re.compile("[0-9a-f]{16}")
_SIZE = re.compile("[0-9]{1,18}", re.ASCII)

Fields = Mapping[str, object]


class Foreign(LossyflError):
    """A message that is not ours, or of another version: what it is, and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Down:
    """From the server to a node.

    training:  which training this is; what a device remembers belongs to one
    scheme:    how the device answers
    seed:      of everything random
    held:      the estimate that the frames lead to
    accepted:  the last round of which the server has the device's reply
    key:       the name of the model's record
    frames:    in order
    layout:    of the model, with its frame; empty if the device knows it
    exact:     what is not in the vector, with any frame
    bound:     the norm that no update may exceed, for differential privacy
    """

    training: str
    scheme: str
    seed: int
    held: EstimateVersion
    accepted: int
    key: str
    frames: tuple[bytes, ...] = ()
    layout: str = ""
    exact: Exact = field(default_factory=dict[str, Array])
    bound: float = math.inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Up:
    """From a node to the server.

    number:  the device's
    held:    the estimate that it holds
    reply:   the frame of the update; empty if there is none
    exact:   what is not in the vector, of the trained model
    problem: why it did not train; empty if it did
    training, coding: seconds that the app took, and that the mod did
    """

    number: int
    held: EstimateVersion
    reply: bytes = b""
    exact: Exact = field(default_factory=dict[str, Array])
    problem: str = ""
    training: float = 0.0
    coding: float = 0.0


def pack_down(down: Down) -> dict[str, ConfigRecord]:
    """The first record of a message to a node; `pack_frames` makes the others."""
    return _pack(
        {
            "training": down.training,
            "scheme": down.scheme,
            "seed": down.seed,
            "accepted": down.accepted,
            "key": down.key,
            "layout": down.layout,
            "bound": "" if down.bound == math.inf else down.bound,
            **_held(down.held),
        },
        down.frames,
        down.exact,
    )


def pack_up(up: Up) -> dict[str, ConfigRecord]:
    """The records of a message to the server."""
    fields = {
        "number": up.number,
        "problem": up.problem,
        "training": up.training,
        "coding": up.coding,
        **_held(up.held),
    }
    frames = (up.reply,) if up.reply else ()
    return _pack(fields, frames, up.exact) | pack_frames(frames)


def unpack_down(content: RecordDict) -> Down | None:
    """Take our records out of a message; None if there are none, Foreign if they are not as they must be."""
    found = _unpack(content, sender="the server")
    if found is None:
        return None
    fields, frames, exact = found
    with _damage("the server"):
        return Down(
            training=_text(fields, "training", TRAINING),
            scheme=_text(fields, "scheme"),
            seed=_number(fields, "seed", 0, 1 << 64),
            held=_read_held(fields),
            accepted=_number(fields, "accepted", UNKNOWN, MOST_ROUNDS),
            key=_text(fields, "key"),
            frames=frames,
            layout=_text(fields, "layout", ANY_TEXT, default=""),
            exact=exact,
            bound=_bound(fields),
        )


def unpack_up(content: RecordDict) -> Up | None:
    """Take our records out of a reply; None if there are none, Foreign if they are not as they must be."""
    found = _unpack(content, sender="the node")
    if found is None:
        return None
    fields, frames, exact = found
    with _damage("the node"):
        if len(frames) > 1:
            raise ValueError(f"{len(frames)} frames in a reply")
        return Up(
            number=_number(fields, "number", 0, 1 << 63),
            held=_read_held(fields),
            reply=b"".join(frames),
            exact=exact,
            problem=shown(_text(fields, "problem", ANY_TEXT, default="")),
            training=_seconds(fields, "training"),
            coding=_seconds(fields, "coding"),
        )


def _pack(fields: Fields, frames: Sequence[bytes], exact: Exact) -> dict[str, ConfigRecord]:
    run = b"".join(frames) if sum(map(len, frames)) <= INLINE else b""
    head = ConfigRecord({"format": FORMAT, "lossyfl": __version__})
    # Flower cannot count the bytes of a record with an empty value: those are left out.
    for name, value in fields.items():
        if value != "":
            head[name] = cast("str", value)
    if frames:
        head["sizes"] = [len(frame) for frame in frames]
    for name, array in exact.items():
        head[f"exact.{name}"] = [array.dtype, array.stype, *map(str, array.shape)]
        head[f"bytes.{name}"] = array.data
    if 0 < len(run) <= INLINE:
        head["run"] = run
    return {RECORD: head}


def pack_frames(frames: Sequence[bytes]) -> dict[str, ConfigRecord]:
    """The records of frames that are too long for the first one."""
    run = b"".join(frames)
    if len(run) <= INLINE:
        return {}
    starts = range(0, len(run), PIECE)
    return {
        f"{RECORD}.{number}": ConfigRecord({"run": run[start : start + PIECE]})
        for number, start in enumerate(starts)
    }


def _unpack(content: RecordDict, *, sender: str) -> tuple[Fields, tuple[bytes, ...], Exact] | None:
    """The fields, frames and arrays of our records."""
    if RECORD not in content:
        return None
    found = content.pop(RECORD)
    fields: Fields = dict(found) if isinstance(found, ConfigRecord) else {}
    if fields.get("format") != FORMAT:
        raise Foreign(
            f"{sender} has lossyfl {shown(fields.get('lossyfl'))} with messages of format "
            f"{shown(fields.get('format'))}, here is {__version__} with {FORMAT}: install the same "
            "lossyfl on both sides"
        )
    with _damage(sender):
        return fields, _cut(_run(fields, content), fields.get("sizes", [])), _read_exact(fields)


@contextmanager
def _damage(sender: str) -> Generator[None]:
    """Whatever cannot be read is the sender's fault, and says so in one line."""
    try:
        yield
    except (KeyError, ValueError, TypeError) as error:
        raise Foreign(f"the lossyfl record of {sender} is damaged: {shown(error)}") from error


def _run(fields: Fields, content: RecordDict) -> bytes:
    """The bytes of all frames, of the first record and those behind it."""
    pieces = [fields.get("run", b"")]
    while (name := f"{RECORD}.{len(pieces) - 1}") in content:
        pieces.append(content.pop(name).get("run"))
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
        sizes = tuple(map(int, shape))
        arrays[name] = Array(dtype=dtype, shape=sizes, stype=stype, data=data)
    return arrays


def _held(held: EstimateVersion) -> dict[str, object]:
    return {"round": held.round, "digest": f"{held.digest:016x}"}


def _read_held(fields: Fields) -> EstimateVersion:
    digest = int(_text(fields, "digest", _DIGEST), 16)
    held = EstimateVersion(round=_number(fields, "round", -1, MOST_ROUNDS), digest=digest)
    return NOTHING if held.round < 0 else held


def _text(
    fields: Fields, name: str, form: re.Pattern[str] = _SHORT, default: str | None = None
) -> str:
    value = fields[name] if default is None else fields.get(name, default)
    if not isinstance(value, str) or not form.fullmatch(value):
        raise ValueError(f"{name} is {shown(value)}")
    return value


def _seconds(fields: Fields, name: str) -> float:
    value = fields[name]
    if not isinstance(value, float) or not 0 <= value < 1e9:
        raise ValueError(f"{name} is {shown(value)}")
    return value


def _bound(fields: Fields) -> float:
    """A norm above zero; infinity if there is none."""
    if "bound" not in fields:
        return math.inf
    value = fields["bound"]
    if not isinstance(value, float) or not 0 < value < math.inf:
        raise ValueError(f"bound is {shown(value)}")
    return value


def _number(fields: Fields, name: str, low: int, high: int) -> int:
    """A whole number of at least `low`, and below `high`."""
    value = fields[name]
    if type(value) is not int or not low <= value < high:
        raise ValueError(f"{name} is {shown(value)}")
    return value
