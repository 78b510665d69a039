"""What reads frames: decode, inspect, a server that accepts them, a device that receives them; and schemes.

An input of server or device is a few bytes that choose the situation, then one frame.
"""

import copy
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import numpy as np
from tests.fuzz.choices import Choices
from tests.fuzz.grammar import DRIFT, MERGED, MODEL, REPLY, UPDATE, Place, make_frame
from tests.fuzz.guided import Target
from tests.fuzz.mutate import PLAIN, TEXT
from tests.helpers import laplace, seal

import lossyfl
from lossyfl import Device, Server
from lossyfl.protocol.schemes import names
from lossyfl.protocol.states import Delivery, DeviceState, ServerState
from lossyfl.registry import from_outside
from lossyfl.types import Vector

ENTRIES = 64
MAX_ENTRIES = 1 << 17
SCHEMES = (
    "lfl", "lgm", "ltgm", "lb", "lossless", "lean", "lean:predict=true", "lfl:server_optimizer=momentum",
    "lfl:server_optimizer=adam", "lfl:grid=true",
)  # fmt: skip
GOLDEN = Path(__file__).parents[1] / "golden"


def sealed(prefix: int = 0) -> Callable[[bytes], bytes]:
    """Mends the checksum of the frame behind so many bytes."""
    return lambda data: data[:prefix] + seal(data[prefix:-4])


def grammar_frames(count: int, place: Place) -> list[bytes]:
    """Frames of the grammar, all different."""
    return [make_frame(Choices(number), place).frame for number in range(count)]


def frame_seeds() -> Sequence[bytes]:
    """The golden frames that are not long, and some of the grammar."""
    golden = [path.read_bytes() for path in sorted(GOLDEN.glob("*.lfl"))]
    return [frame for frame in golden if len(frame) < 5000] + grammar_frames(150, Place())


def check_finite(x: Vector, what: str) -> None:
    """Raise if a value got through that never may."""
    if not np.isfinite(x).all():
        raise AssertionError(f"{what} has {x[~np.isfinite(x)][0]}")


def decode(data: bytes) -> None:
    """Floats, all finite."""
    check_finite(lossyfl.decode(data, max_entries=MAX_ENTRIES), "a decoded vector")


def inspect(data: bytes) -> None:
    """What a frame is made of, with properties that are computed."""
    info = lossyfl.inspect(data, max_entries=MAX_ENTRIES)
    assert info.bits_per_entry > 0 < info.ratio
    assert not np.isnan(info.over_entropy)


@cache
def _server(number: int) -> tuple[Server, ServerState, bytes, bytes]:
    """A server in its second round, its state, and the replies of its two devices."""
    chosen = lossyfl.scheme(SCHEMES[number])
    server = Server(laplace(ENTRIES), chosen, samples={0: 1, 1: 2}, seed=1)
    devices = [Device(n, chosen, seed=1) for n in (0, 1)]
    replies: list[bytes] = []
    for _ in range(2):
        server.open_round()
        replies = []
        for device in devices:
            theta = device.receive(server.frames_for(device.number))
            replies.append(device.reply(theta + laplace(ENTRIES, device.number)))
        if server.round == 0:
            for device, reply in zip(devices, replies, strict=True):
                server.accept(device.number, reply)
            server.close_round()
    return server, copy.deepcopy(server.state()), replies[0], replies[1]


def _accept_seeds() -> Sequence[bytes]:
    seeds: list[bytes] = []
    for number in range(len(SCHEMES)):
        server, _, _, reply = _server(number)
        bound = int.from_bytes(reply[24:32], "little")  # to the device that sent it
        place = Place(kinds=(REPLY,), entries=ENTRIES, round=server.round, digest=bound)
        seeds += [bytes([number, 1]) + frame for frame in [reply, *grammar_frames(30, place)]]
    return seeds


def accept(data: bytes) -> None:
    """Whatever a device sends: refused, nothing has changed; accepted, the next round begins as it should."""
    server, state, honest, _ = _server(data[0] % len(SCHEMES) if data else 0)
    now = server.state()
    if (now.round, now.answered, now.accepted) != (state.round, state.answered, state.accepted):
        server.restore(state)
    try:
        server.accept(data[1] % 4 if len(data) > 1 else 1, data[2:])
    except lossyfl.LossyflError:
        now = server.state()
        changed = now.answered or now.waiting or now.weight or now.total.any()
        assert not changed, "a refused reply changed the server"
        raise
    try:
        _end_round(server, honest)
    except lossyfl.LossyflError as error:
        raise AssertionError(f"a reply was accepted, and then: {error}") from error


def _end_round(server: Server, honest: bytes) -> None:
    """Whatever was accepted, an honest reply is taken, and the next round begins."""
    if 0 not in server.state().answered:
        server.accept(0, honest)
    server.close_round()
    check_finite(server.theta, "theta")
    server.open_round()
    check_finite(server.estimate, "the estimate")


@cache
def _device(number: int) -> tuple[Device, tuple[DeviceState, ...], tuple[bytes, ...]]:
    """A device; its states when it is new, holds a model, and has replied; frames of the next rounds."""
    chosen = lossyfl.scheme(SCHEMES[number])
    server = Server(laplace(ENTRIES), chosen, samples={1: 1}, seed=1)
    device = Device(1, chosen, seed=1, max_entries=MAX_ENTRIES)
    states, frames = [copy.deepcopy(device.state())], list[bytes]()
    for _ in range(3):
        server.open_round()
        delivery = server.frames_for(1)
        frames += delivery.frames
        theta = device.receive(delivery) if server.round < 2 else server.estimate
        if server.round < 2:
            states.append(copy.deepcopy(device.state()))
            reply = device.reply(theta + laplace(ENTRIES, 1))
            states.append(copy.deepcopy(device.state()))
            server.accept(1, reply)
        if server.round < 2:
            server.close_round()
    newcomer = Device(1, chosen, seed=1)
    frames += server.frames_for(1, newcomer.held).frames
    return device, tuple(states), tuple(frames)


def _receive_seeds() -> Sequence[bytes]:
    seeds: list[bytes] = []
    for number in range(len(SCHEMES)):
        device, states, frames = _device(number)
        for at, state in enumerate(states):
            device.restore(copy.deepcopy(state))
            head = bytes([number, at, 1, 0])
            seeds += [head + frame for frame in frames]
            seeds.append(bytes([number, at, 1, len(frames) - 1]) + frames[-1])
            held, kinds = device.held, (MODEL, UPDATE, UPDATE, DRIFT, MERGED)
            place = Place(kinds=kinds, entries=ENTRIES, round=held.round + 1, digest=held.digest)
            seeds += [head + frame for frame in grammar_frames(10, place)]
    return seeds


def receive(data: bytes) -> None:
    """Whatever a server sends: the estimate is finite, and the device can answer."""
    head = data[:4].ljust(4, b"\0")
    device, states, known = _device(head[0] % len(SCHEMES))
    device.restore(copy.deepcopy(states[head[1] % len(states)]))
    before = (b"", *known)[head[3] % (len(known) + 1)]  # none, or one that the server has sent
    frames = (before, data[4:]) if before else (data[4:],)
    theta = device.receive(Delivery(frames=frames, accepted=head[2] % 6 - 2))
    check_finite(theta, "the estimate")
    if not device.unsettled:
        device.reply(theta)
    check_finite(device.memory, "delta_m")


def spec(data: bytes) -> None:
    """A scheme that a message names."""
    with from_outside((), "nowhere: {}"):
        lossyfl.scheme(data.decode(errors="replace"))


def _spec_seeds() -> Sequence[bytes]:
    more = [
        "lean:down=eden,up=deadzone(step=0.5)", "lfl:q1=2,q2=2,scale=tensor", "lgm:q=5@2",
        "lfl:server_optimizer=adam(lr=0.1)", "lean:down=budget(bits=1.5)", "os:system:command=true",
    ]  # fmt: skip
    return [text.encode() for text in [*names(), *SCHEMES, *more]]


TARGETS = (
    Target(name="decode", run=decode, seeds=frame_seeds, mend=sealed()),
    Target(name="inspect", run=inspect, seeds=frame_seeds, mend=sealed()),
    Target(name="accept", run=accept, seeds=_accept_seeds, mend=sealed(2)),
    Target(name="receive", run=receive, seeds=_receive_seeds, mend=sealed(4)),
    Target(name="scheme", run=spec, seeds=_spec_seeds, how=(*TEXT, *PLAIN)),
)
