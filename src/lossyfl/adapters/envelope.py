"""What a message of ours says: from the server to a device, and back.

A message comes from outside and is not trusted. `unpack_down` and `unpack_up` check every type, length and
range before anything is made of it, and raise nothing but Foreign.
"""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from lossyfl.adapters.arrays import Array
from lossyfl.adapters.exact import Exact
from lossyfl.adapters.fields import ANY_TEXT, Fields, Value, bound, number, seconds, text
from lossyfl.adapters.folders import TRAINING
from lossyfl.adapters.logs import shown
from lossyfl.adapters.records import Records, damage, pack, pack_frames, unpack
from lossyfl.protocol.digests import NOTHING, EstimateVersion
from lossyfl.protocol.states import UNKNOWN

MOST_ROUNDS = 1 << 32
"""Frames count rounds in 32 bits."""
_DIGEST = re.compile("[0-9a-f]{16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Down:
    """From the server to a device.

    training:  which training this is; what a device remembers belongs to one
    scheme:    how the device answers
    seed:      of everything random
    held:      the estimate that the frames lead to
    accepted:  the last round of which the server has the device's reply
    key:       the name of the model in the framework's message
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
    """From a device to the server.

    number:  the device's
    held:    the estimate that it holds
    reply:   the frame of the update; empty if there is none
    exact:   what is not in the vector, of the trained model
    problem: why it did not train; empty if it did
    training, coding: seconds that training took, and that coding did
    """

    number: int
    held: EstimateVersion
    reply: bytes = b""
    exact: Exact = field(default_factory=dict[str, Array])
    problem: str = ""
    training: float = 0.0
    coding: float = 0.0


def pack_down(down: Down) -> Records:
    """The first record of a message to a device; `pack_frames` makes the others."""
    fields: dict[str, Value] = {
        "training": down.training,
        "scheme": down.scheme,
        "seed": down.seed,
        "accepted": down.accepted,
        "key": down.key,
        "layout": down.layout,
        "bound": "" if down.bound == math.inf else down.bound,
        **_held(down.held),
    }
    return pack(fields, down.frames, down.exact)


def pack_up(up: Up) -> Records:
    """The records of a message to the server."""
    fields: dict[str, Value] = {
        "number": up.number,
        "problem": up.problem,
        "training": up.training,
        "coding": up.coding,
        **_held(up.held),
    }
    frames = (up.reply,) if up.reply else ()
    return pack(fields, frames, up.exact) | pack_frames(frames)


def unpack_down(records: Mapping[str, Fields]) -> Down | None:
    """What the server says; None if no record is ours, Foreign if they are not as they must be."""
    found = unpack(records, sender="the server")
    if found is None:
        return None
    fields, frames, exact = found
    with damage("the server"):
        return Down(
            training=text(fields, "training", TRAINING),
            scheme=text(fields, "scheme"),
            seed=number(fields, "seed", 0, 1 << 64),
            held=_read_held(fields),
            accepted=number(fields, "accepted", UNKNOWN, MOST_ROUNDS),
            key=text(fields, "key"),
            frames=frames,
            layout=text(fields, "layout", ANY_TEXT, default=""),
            exact=exact,
            bound=bound(fields),
        )


def unpack_up(records: Mapping[str, Fields], *, sender: str = "the device") -> Up | None:
    """What a device says; None if no record is ours, Foreign if they are not as they must be."""
    found = unpack(records, sender=sender)
    if found is None:
        return None
    fields, frames, exact = found
    with damage(sender):
        if len(frames) > 1:
            raise ValueError(f"{len(frames)} frames in a reply")
        return Up(
            number=number(fields, "number", 0, 1 << 63),
            held=_read_held(fields),
            reply=b"".join(frames),
            exact=exact,
            problem=shown(text(fields, "problem", ANY_TEXT, default="")),
            training=seconds(fields, "training"),
            coding=seconds(fields, "coding"),
        )


def _held(held: EstimateVersion) -> dict[str, Value]:
    return {"round": held.round, "digest": f"{held.digest:016x}"}


def _read_held(fields: Fields) -> EstimateVersion:
    digest = int(text(fields, "digest", _DIGEST), 16)
    held = EstimateVersion(round=number(fields, "round", -1, MOST_ROUNDS), digest=digest)
    return NOTHING if held.round < 0 else held
