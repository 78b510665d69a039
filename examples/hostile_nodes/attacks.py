"""What a node that means harm may send: one attack in each round, in turn.

Two mods around lossyfl's own: `before` has the whole message, `after` has models where frames travel.

    nan           a frame whose values are 0/0, a frame of raw NaN in turn
    huge          an update of 1e30 in every entry, as a frame that is right in all else
    replay        its own reply of the last round that was asked for
    other device  a reply that is bound to another device, with its number or without
    oversized     twenty times as many bytes as the model has
    weight 0      a reply that says it stands for no samples
    weight 2^53   one that says it stands for all
    garbage       a record of ours with other types, lengths and numbers in it
    metrics       a loss that is NaN, with a sound update: not refused, but left out of the mean
"""

import random
import struct
from collections.abc import Callable

import numpy as np
import xxhash
from flwr.app import Array, ArrayRecord, ConfigRecord, Context, Message

from lossyfl.protocol.digests import reply_digest, training_id
from lossyfl.wire import counts

KINDS = (
    "replay",
    "nan",
    "huge",
    "other device",
    "oversized",
    "weight 0",
    "weight 2^53",
    "garbage",
    "metrics",
)
HOSTILE = (3, 8)
"""The numbers of those that mean harm: a fifth of ten."""
App = Callable[[Message, Context], Message]


def kind_of(message: Message, context: Context) -> str:
    """Which attack is due; empty for an honest node."""
    number = int(context.node_config["partition-id"])
    if number not in HOSTILE or "config" not in message.content:
        return ""
    count = int(message.content["config"]["server-round"])
    return KINDS[(count + 4 * number) % len(KINDS)]


def before(message: Message, context: Context, call_next: App) -> Message:
    """Change what lossyfl's mod has answered."""
    kind = kind_of(message, context)
    head = dict(message.content["lossyfl"]) if "lossyfl" in message.content else {}
    reply = call_next(message, context)
    if not kind or not reply.has_content() or "run" not in reply.content["lossyfl"]:
        return reply
    ours, dice = reply.content["lossyfl"], random.Random(head["round"])
    honest = ours.copy()
    if kind == "replay" and "old" in context.state:
        reply.content["lossyfl"] = context.state["old"]
    elif kind == "nan":
        _send(ours, _no_numbers(ours["run"], raw=head["round"] % 2))
    elif kind == "other device":
        _impersonate(ours, head)
    elif kind == "oversized":
        _send(ours, bytes(20 * 4 * _entries(ours["run"])))
    elif kind == "garbage":
        for name in dice.sample(sorted(ours), 3):
            ours[name] = dice.choice([-1, "x" * 10**5, b"\xff" * 99, [1 << 62], 0.5, [b"", b"y"]])
    context.state["old"] = honest
    return reply


def after(message: Message, context: Context, call_next: App) -> Message:
    """Change what the app has answered: a model, and metrics."""
    kind = kind_of(message, context)
    reply = call_next(message, context)
    metrics = reply.content["metrics"] if reply.has_content() else {}
    if kind == "huge":
        arrays = reply.content["arrays"].items()
        changed = {name: Array(own.numpy() + np.float32(1e30)) for name, own in arrays}
        reply.content["arrays"] = ArrayRecord(changed)
    elif kind == "weight 0":
        metrics["num-examples"] = 0
    elif kind == "weight 2^53":
        metrics["num-examples"] = 1 << 53
    elif kind == "metrics":
        metrics["train-loss"] = float("nan")
    return reply


def _send(ours: ConfigRecord, frame: bytes) -> None:
    """Another frame instead of the one that is there."""
    ours["run"], ours["sizes"] = frame, [len(frame)]


def _entries(frame: bytes) -> int:
    return struct.unpack_from("<Q", frame, 8)[0]


def _sealed(frame: bytes) -> bytes:
    """The frame with a checksum that fits."""
    return frame + struct.pack("<I", xxhash.xxh3_64_intdigest(frame) & 0xFFFFFFFF)


def _no_numbers(frame: bytes, *, raw: int) -> bytes:
    """A frame with the address of an honest one, whose values are no numbers."""
    entries = _entries(frame)
    address = frame[8:32]
    if raw:
        head = struct.pack("<3sBBBH", b"LFL", 1, 3, 0, 0) + address
        return _sealed(head + np.full(entries, np.nan, "<f4").tobytes())
    head = struct.pack("<3sBBBH", b"LFL", 1, 3, 2 | 1 << 4, 1) + address
    ladder = struct.pack("<ffBH", 0, 1, 0, 0) + counts.write(np.array([1, 0], np.uint64))
    return _sealed(head + ladder)


def _impersonate(ours: ConfigRecord, head: dict[str, object]) -> None:
    """A reply as of device 0: everything that it needs is known to every node."""
    training = training_id(int(head["seed"]), str(head["training"]))
    bound = reply_digest(int(str(head["digest"]), 16), device=0, training=training)
    frame = ours["run"]
    _send(ours, _sealed(frame[:24] + struct.pack("<Q", bound) + frame[32:-4]))
    if int(head["round"]) % 2:
        ours["number"] = 0
