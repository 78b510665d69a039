"""States that anybody may have written: from one, a server or a device goes on, or our error says why not."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.helpers import f32, laplace
from tests.hostile import again

from lossyfl import Device, InputError, LossyflError, Refused, Server, scheme
from lossyfl.files import safetensors, snapshot
from lossyfl.protocol.states import DeviceState, ServerState
from lossyfl.wire.frame import pack_raw

D = 8
SPEC = "lean:predict=true,server_optimizer=adam"
ODD = (-(2**63), -3, -2, -1, 0, 1, 2, 7, 2**32, 2**53, 2**64, 2**70, 2**99, float("nan"), 1e308)


def started() -> tuple[Server, Device]:
    """A server in its third round, with a reply that waits and one that was added, and a device."""
    server = Server(laplace(D), scheme(SPEC), samples=dict.fromkeys(range(4), 3))
    device = Device(0, scheme(SPEC))
    for t in range(3):
        server.open_round()
        for m in (0, 2):
            if m == 0:
                device.receive(server.frames_for(0))
            values = np.full(D, 0.1 + t, np.float32)
            server.accept(m, pack_raw(values, server.reply_meta(m)))
        if t < 2:
            server.close_round()
    device.reply(device.estimate + 1)
    return server, device


def numbers(document: object, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The places of all numbers in a document, and of the keys that are numbers."""
    pairs = document.items() if isinstance(document, dict) else ()
    if isinstance(document, list):
        pairs = enumerate(document)
    for key, value in pairs:
        if isinstance(value, dict | list):
            yield from numbers(value, (*at, key))
        elif isinstance(value, int | float):
            yield (*at, key)


def with_number(facts: object, place: tuple[str | int, ...], value: float, *, key: bool) -> str:
    """The facts with another number at a place, or as its key."""
    changed = json.loads(json.dumps(facts))
    parent = changed
    for each in place[:-1]:
        parent = parent[each]
    if key and isinstance(parent, dict) and str(place[-1]).lstrip("-").isdigit():
        parent[str(value)] = parent.pop(place[-1])
    else:
        parent[place[-1]] = value
    return json.dumps(changed)


def go_on(server: Server) -> None:
    """Two rounds, whatever is said of the one that is open."""
    for _ in range(2):
        if not server.is_open:
            server.open_round()
        for m in server.members:
            server.frames_for(m)
        for m in range(4):
            with suppress(Refused):
                server.accept(m, pack_raw(f32([0.1] * D), server.reply_meta(m)))
        server.close_round()
    server.state()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("states")
    server, device = started()
    snapshot.save(folder / "server", server.state())
    snapshot.save(folder / "device", device.state())
    return folder


@settings(max_examples=200)
@given(data=st.data())
def test_a_server_goes_on_or_refuses_a_number(data: st.DataObject, saved: Path) -> None:
    file = safetensors.read(saved / "server")
    facts = json.loads(file.metadata["facts"])
    place = data.draw(st.sampled_from([*numbers(facts)]))
    text = with_number(facts, place, data.draw(st.sampled_from(ODD)), key=data.draw(st.booleans()))
    (saved / "odd").write_bytes(again(file, text))
    with suppress(LossyflError):
        server = Server(laplace(D), scheme(SPEC), samples={})
        server.restore(snapshot.load(saved / "odd", ServerState))
        go_on(server)
        assert np.isfinite(server.theta).all()


@given(data=st.data())
def test_a_device_goes_on_or_refuses_a_number(data: st.DataObject, saved: Path) -> None:
    file = safetensors.read(saved / "device")
    facts = json.loads(file.metadata["facts"])
    place = data.draw(st.sampled_from([*numbers(facts)]))
    text = with_number(facts, place, data.draw(st.sampled_from(ODD)), key=False)
    (saved / "odd").write_bytes(again(file, text))
    server, _ = started()
    with suppress(LossyflError):
        device = Device(0, scheme(SPEC))
        device.restore(snapshot.load(saved / "odd", DeviceState))
        device.receive(server.frames_for(0, device.held))
        device.reply(device.estimate)


@pytest.mark.parametrize("turn", [2**70, -1, -(2**63), 5])
def test_the_turn_is_one_of_the_participants(turn: int) -> None:
    server, _ = started()
    with pytest.raises(InputError, match="replies of a state of Server must be"):
        server.restore(replace(server.state(), turn=turn))


@given(turn=st.integers(0, 4))
@example(turn=4)
def test_with_any_turn_the_round_ends(turn: int) -> None:
    server, _ = started()
    server.restore(replace(server.state(), turn=turn))
    go_on(server)
    assert np.isfinite(server.theta).all()


def test_vectors_of_other_lengths_and_shapes() -> None:
    server, device = started()
    state, own = server.state(), device.state()
    short, square, empty = f32([1]), laplace(D).reshape(2, -1), np.empty((D, 0), np.float32)
    for change in ({"total": short}, {"theta": short}, {"total": square}, {"total": empty}):
        with pytest.raises(InputError, match="state of Server must be of vectors of one length"):
            server.restore(replace(state, **change))
    with pytest.raises(InputError, match="state of Server must be of vectors of one length"):
        server.restore(replace(state, moments=replace(state.moments, first=short)))
    with pytest.raises(InputError, match="state of device 0 must be"):
        device.restore(replace(own, estimate=square))


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
@pytest.mark.parametrize("where", ["estimate", "uplink", "trend"])
def test_a_device_restores_no_model_that_is_not_finite(wrong: float, where: str) -> None:
    _, device = started()
    before = device.state()
    odd = np.full(D, wrong, np.float32)
    changes: dict[str, dict[str, object]] = {
        "estimate": {"estimate": odd},
        "trend": {"downlink": {"trend": odd}},
        "uplink": {"uplink": {"memory": odd}},
    }
    with pytest.raises(InputError, match="state of device 0 must be of finite floats"):
        device.restore(replace(before, **changes[where]))  # type: ignore[arg-type]
    assert device.state() == before
