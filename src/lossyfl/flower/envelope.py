"""What a message of ours holds, as records that Flower carries.

One ConfigRecord `lossyfl` with a few fields, and the frames behind it as one run of bytes, cut into pieces
that even a slow link moves well within Flower's timeout of a request. Every record is a request of
its own, so a short run of bytes lies in the first record.

`FORMAT` is the number of this layout of fields, and of the version of frames.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from flwr.app import Array, ConfigRecord, RecordDict

from lossyfl import __version__
from lossyfl.digests import NOTHING, Held
from lossyfl.errors import LossyflError
from lossyfl.flower.layout import Exact
from lossyfl.flower.store import TRAINING
from lossyfl.wire.header import VERSION

FORMAT = f"1.{VERSION}"
RECORD = "lossyfl"
INLINE = 1 << 14
"""Up to so many bytes lie in the first record, which saves a request; more are shared by all messages."""
PIECE = 1 << 18
"""Bytes of one record: 30 s at 70 kbit/s, Flower's timeout, and few enough requests for a large model."""

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
    exact:     what is not a float, with any frame
    """

    training: str
    scheme: str
    seed: int
    held: Held
    accepted: int
    key: str
    frames: tuple[bytes, ...] = ()
    layout: str = ""
    exact: Exact = field(default_factory=dict[str, Array])


@dataclass(frozen=True, slots=True, kw_only=True)
class Up:
    """From a node to the server.

    number:  the device's
    held:    the estimate that it holds
    reply:   the frame of the update; empty if there is none
    exact:   what is not a float, of the trained model
    problem: why it did not train; empty if it did
    training, coding: seconds that the app took, and that the mod did
    """

    number: int
    held: Held
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
    """Take our records out of a message; None if there are none."""
    found = _unpack(content, sender="the server")
    if found is None:
        return None
    fields, frames, exact = found
    try:
        return Down(
            training=_name(fields, "training"),
            scheme=_text(fields, "scheme"),
            seed=_number(fields, "seed"),
            held=_read_held(fields),
            accepted=_number(fields, "accepted"),
            key=_text(fields, "key"),
            frames=frames,
            layout=_text(fields, "layout", ""),
            exact=exact,
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Foreign(f"the server's lossyfl record is damaged: {error!r}") from error


def unpack_up(content: RecordDict) -> Up | None:
    """Take our records out of a reply; None if there are none."""
    found = _unpack(content, sender="the node")
    if found is None:
        return None
    fields, frames, exact = found
    try:
        return Up(
            number=_number(fields, "number"),
            held=_read_held(fields),
            reply=b"".join(frames),
            exact=exact,
            problem=_text(fields, "problem", ""),
            training=_seconds(fields, "training"),
            coding=_seconds(fields, "coding"),
        )
    except (KeyError, ValueError, TypeError) as error:
        raise Foreign(f"the node's lossyfl record is damaged: {error!r}") from error


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
    if RECORD not in content:
        return None
    fields = cast("dict[str, object]", dict(content.pop(RECORD)))  # type: ignore[call-overload]
    if fields.get("format") != FORMAT:
        raise Foreign(
            f"{sender} has lossyfl {fields.get('lossyfl')} with messages of format "
            f"{fields.get('format')}, here is {__version__} with {FORMAT}: install the same lossyfl "
            "on both sides"
        )
    pieces = [fields.pop("run", b"")]
    while (name := f"{RECORD}.{len(pieces) - 1}") in content:
        pieces.append(cast("ConfigRecord", content.pop(name)).get("run"))
    try:
        sizes = cast("list[int]", fields.get("sizes", []))
        frames = _cut(b"".join(cast("list[bytes]", pieces)), sizes)
        return fields, frames, _read_exact(fields)
    except (KeyError, ValueError, TypeError) as error:
        raise Foreign(f"the lossyfl record of {sender} is damaged: {error!r}") from error


def _cut(run: bytes, sizes: list[int]) -> tuple[bytes, ...]:
    """The frames in a run of bytes."""
    if sum(sizes) != len(run) or min(sizes, default=0) < 0:
        raise ValueError(f"frames of {sizes} bytes in {len(run)}")
    frames: list[bytes] = []
    at = 0
    for size in sizes:
        frames.append(run[at : at + size])
        at += size
    return tuple(frames)


def _read_exact(fields: Fields) -> Exact:
    arrays: dict[str, Array] = {}
    for name, value in fields.items():
        if name.startswith("exact."):
            dtype, stype, *shape = cast("list[str]", value)
            data = cast("bytes", fields[f"bytes.{name.removeprefix('exact.')}"])
            own = Array(dtype=dtype, shape=tuple(map(int, shape)), stype=stype, data=data)
            arrays[name.removeprefix("exact.")] = own
    return arrays


def _held(held: Held) -> dict[str, object]:
    return {"round": held.round, "digest": f"{held.digest:016x}"}


def _read_held(fields: Fields) -> Held:
    held = Held(round=_number(fields, "round"), digest=int(_text(fields, "digest"), 16))
    return NOTHING if held.round < 0 else held


def _text(fields: Fields, name: str, default: str | None = None) -> str:
    value = fields[name] if default is None else fields.get(name, default)
    if not isinstance(value, str):
        raise TypeError(f"{name} is {value!r}")
    return value


def _name(fields: Fields, name: str) -> str:
    """A text that may be the name of a folder."""
    value = _text(fields, name)
    if not TRAINING.fullmatch(value):
        raise ValueError(f"{name} is {value!r}")
    return value


def _seconds(fields: Fields, name: str) -> float:
    value = fields[name]
    if not isinstance(value, float) or not 0 <= value < 1e9:
        raise TypeError(f"{name} is {value!r}")
    return value


def _number(fields: Fields, name: str) -> int:
    value = fields[name]
    if type(value) is not int:
        raise TypeError(f"{name} is {value!r}")
    return value
