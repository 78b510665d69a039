"""A federation without a framework: what server and devices say goes through bytes, in this process."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from lossyfl.adapters.arrays import Array, Serialized, whole_values
from lossyfl.adapters.envelope import Down, Up, pack_down, pack_up, unpack_down, unpack_up
from lossyfl.adapters.packets import from_packet, to_packet
from lossyfl.adapters.records import pack_frames
from lossyfl.adapters.session import DeviceSettings, opened
from lossyfl.adapters.training import Reply, ServerSettings, ServerTraining
from lossyfl.errors import Refused
from lossyfl.protocol.rules import ReplyRule
from lossyfl.protocol.schemes import scheme

SPEC = "lfl:q1=8,q2=8"
ENTRIES = 60
Train = Callable[[Mapping[str, Serialized]], Mapping[str, Serialized]]


def start() -> dict[str, Array]:
    return {"w": Array.of(np.zeros(ENTRIES, np.float32)), "n": Array.of(np.array(0))}


def add_one(model: Mapping[str, Serialized]) -> dict[str, Array]:
    return {name: Array.of(whole_values(model[name]) + 1) for name in ("w", "n")}


def new_training(*, norm: bool = True) -> ServerTraining:
    rule = ReplyRule() if norm else ReplyRule(norm="off")
    settings = ServerSettings(spec=SPEC, scheme=scheme(SPEC), rule=rule)
    training = ServerTraining(settings=settings)
    training.begin(start())
    return training


def to_device(down: Down) -> Down:
    """As it arrives at a device."""
    found = unpack_down(from_packet(to_packet(pack_down(down) | pack_frames(down.frames))))
    assert found is not None
    return found


def to_server(up: Up) -> Up:
    """As it arrives at the server."""
    found = unpack_up(from_packet(to_packet(pack_up(up))))
    assert found is not None
    return found


def serve(down: Down, number: int, root: Path, train: Train = add_one) -> Up:
    with opened(to_device(down), number, DeviceSettings(root=root)) as session:
        return to_server(session.serve(train))


def play_round(
    training: ServerTraining, peers: Mapping[int, Train], root: Path
) -> dict[int, Refused]:
    """A round of those peers, whose devices have the same numbers; who was refused, and why."""
    training.open()
    replies: dict[int, Reply] = {}
    refused: dict[int, Refused] = {}
    for peer, train in peers.items():
        up = serve(training.down_for(peer), peer, root, train)
        try:
            number = training.hear(peer, up)
            replies[number] = Reply(peer=peer, up=up, samples=5)
        except Refused as error:
            refused[peer] = error
    return refused | training.aggregate(replies)
