"""Devices that join, leave, sleep, crash, lose replies and get damaged frames, in any order.

After every step each device in sync holds the server's estimate to the bit, no damaged frame has been
applied, weights are right, and the ledger equals the bytes that were handed over. `make test` runs a
bounded profile, `make test-deep` a thousand runs of up to 200 steps.
"""

import os
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tests.helpers import forge, laplace, seal

from lossyfl import Delivery, Device, DeviceState, FrameError, OutOfSync, Refused, Server, scheme
from lossyfl.protocol.digests import reply_digest, training_id
from lossyfl.wire.frame import pack_raw, with_digest

D = 60
SPECS = (
    "lossless", "lb", "lfl", "lgm", "ltgm:q1=5", "lfl:server_model=preserved,damping=true,q1=5@0/2@3",
    "lean:first_budget=200B,down_budget=200B,up_budget=200B",
    "lean:down_budget=200B,up_budget=200B,predict=true",
    "lfl:grid=true", "lean:first_budget=200B,down_budget=200B,up_budget=200B,grid=true",
    "lfl:scale=16", "lfl:compensate_server=true,server_optimizer=momentum",
)  # fmt: skip

which = st.integers(0, 5)
places = st.integers(0, 10**6)


@dataclass
class Bytes:
    """What was handed over, counted by hand."""

    down: int = 0
    up: int = 0
    weights: dict[int, int] = field(default_factory=dict[int, int])


class Protocol(RuleBasedStateMachine):
    """Any order of events."""

    @initialize(
        spec=st.sampled_from(SPECS),
        listen=st.sampled_from(["all", "participants"]),
        log=st.sampled_from([0, 300, 10**6]),
    )
    def start(self, spec: str, listen: Any, log: int) -> None:  # noqa: ANN401
        self.scheme = scheme(spec)
        self.server = Server(
            laplace(D), self.scheme, samples={0: 3, 1: 5}, seed=1, listen=listen, log_bytes=log
        )
        self.devices = {m: Device(m, self.scheme, seed=1) for m in (0, 1)}
        self.saved: dict[int, DeviceState] = {}
        self.stale: list[tuple[int, bytes]] = []
        self.counted = Bytes()
        self.remember()

    def device(self, m: int) -> Device:
        return self.devices[sorted(self.devices)[m % len(self.devices)]]

    def deliver(self, device: Device) -> Delivery:
        delivery = self.server.frames_for(device.number, device.held)
        self.counted.down += delivery.nbytes
        return delivery

    @rule(m=which, samples=st.integers(1, 9))
    def join(self, m: int, samples: int) -> None:
        if m not in self.devices:
            self.server.join(m, samples)
            self.devices[m] = Device(m, self.scheme, seed=1)

    @precondition(lambda self: len(self.devices) > 1)
    @rule(m=which)
    def leave(self, m: int) -> None:
        number = self.device(m).number
        self.server.leave(number)
        del self.devices[number]
        self.saved.pop(number, None)

    @precondition(lambda self: not self.server.is_open)
    @rule(chosen=st.sets(which))
    def open(self, chosen: set[int]) -> None:
        self.server.open_round([m for m in chosen if m in self.devices] or None)
        self.counted.weights = {}

    @rule(asleep=st.sets(which, max_size=3), lost=st.sets(which, max_size=2), close=st.booleans())
    def play(self, asleep: set[int], lost: set[int], close: bool) -> None:
        """A round as it should be, but for devices that sleep and replies that are lost."""
        if not self.server.is_open:
            self.open(set())
        for m in self.server.listeners:
            if m in self.devices and m not in asleep:
                self.devices[m].receive(self.deliver(self.devices[m]))
                assert self.devices[m].held == self.server.held
        for m in self.server.participants:
            if m in self.devices and m not in asleep:
                self.answer(self.devices[m], lost=m in lost)
        if close:
            self.close()

    @precondition(lambda self: self.server.is_open)
    @rule(m=which)
    def hear(self, m: int) -> None:
        device = self.device(m)
        device.receive(self.deliver(device))
        assert device.held == self.server.held

    @precondition(lambda self: self.server.is_open)
    @rule(m=which, place=places, change=st.integers(1, 255))
    def hear_damaged(self, m: int, place: int, change: int) -> None:
        device = self.device(m)
        delivery = self.deliver(device)
        before = device.held
        for i, frame in enumerate(delivery.frames):
            broken = bytearray(frame)
            broken[place % len(frame)] ^= change
            try:
                device.receive(Delivery(frames=(bytes(broken),), accepted=-1))
            except (FrameError, OutOfSync):
                assert device.held == before
            else:
                raise AssertionError(f"damaged frame {i} was applied")

    @precondition(lambda self: self.server.is_open)
    @rule(m=which)
    def hear_twice(self, m: int) -> None:
        device = self.device(m)
        delivery = self.deliver(device)
        device.receive(delivery)
        held = device.held
        try:
            device.receive(delivery)
        except OutOfSync:
            assert device.held == held
        assert device.held == held

    @precondition(lambda self: self.server.is_open)
    @rule(m=which, lost=st.booleans(), twice=st.booleans())
    def train(self, m: int, lost: bool, twice: bool) -> None:
        reply = self.answer(self.device(m), lost=lost)
        if twice and reply is not None:
            self.refused(self.device(m).number, reply)

    def answer(self, device: Device, *, lost: bool) -> bytes | None:
        """Train and reply; returns the reply if it was accepted."""
        state = device.state()
        went_back = state.replied > self.server.round and device.held == self.server.held
        if state.round < 0 or (state.replied >= 0 and not went_back):
            return None
        theta = device.estimate + np.float32(0.1) * laplace(
            D, seed=state.round * 10 + device.number
        )
        in_sync = device.held == self.server.held
        reply = device.reply(theta)
        self.stale.append((device.number, reply))
        if lost:
            return None
        called = device.number in self.server.participants
        answered = self.server.state().accepted.get(device.number) == self.server.round
        if not (in_sync and called) or answered:
            self.refused(device.number, reply)
            return None
        self.server.accept(device.number, reply)
        self.counted.up += len(reply)
        assert device.number not in self.counted.weights
        self.counted.weights[device.number] = self.server.state().participants[device.number]
        return reply

    @precondition(lambda self: self.stale)
    @rule(place=places, other=which)
    def replay(self, place: int, other: int) -> None:
        """An old reply, from its own device or in the name of another."""
        number, reply = self.stale[place % len(self.stale)]
        fresh = (
            self.server.is_open and self.server.state().accepted.get(number) != self.server.round
        )
        if not fresh:
            self.refused(number, reply)
        if other != number:
            self.refused(other, reply)

    @rule(m=which, kind=st.sampled_from(["long", "huge", "NaN", "other's", "other training"]))
    def hostile(self, m: int, kind: str) -> None:
        """A sealed frame of the right form that must not be taken."""
        number = self.device(m).number
        if self.server.round < 0:
            return
        reply = pack_raw(np.full(D, 1e35, np.float32), self.server.reply_meta(number))
        if kind == "long":
            reply = seal(reply[:-4] + bytes(10))
        elif kind == "NaN":
            reply = forge(reply, 32 + 4 * (m % D), np.float32(np.nan).tobytes())
        elif kind == "other's":
            reply = pack_raw(laplace(D), self.server.reply_meta(number + 1))
        elif kind == "other training":
            digest = reply_digest(self.server.held.digest, device=number, training=training_id(99))
            reply = with_digest(pack_raw(laplace(D), self.server.reply_meta(number)), digest)
        self.refused(number, reply)

    @rule(m=which, junk=st.binary(max_size=80))
    def garbage(self, m: int, junk: bytes) -> None:
        self.refused(self.device(m).number, junk)

    def refused(self, number: int, reply: bytes) -> None:
        before = self.server.state()
        with pytest.raises(Refused) as refused:
            self.server.accept(number, reply)
        after = self.server.state()
        assert after.refusals[-1].reason == refused.value.reason
        counts = [sum(each.count for each in state.refused) for state in (before, after)]
        assert counts[1] == counts[0] + 1
        assert before.total.tobytes() == after.total.tobytes()
        assert (before.weight, before.waiting) == (after.weight, after.waiting)

    @rule(m=which)
    def save(self, m: int) -> None:
        device = self.device(m)
        self.saved[device.number] = device.state()

    @rule(m=which)
    def crash(self, m: int) -> None:
        """The device goes on from what it saved last, or from nothing."""
        device = self.device(m)
        device.restore(self.saved.get(device.number, DeviceState()))

    @rule()
    def remember(self) -> None:
        self.old = self.server.state(), deepcopy(self.counted)

    @rule()
    def go_back(self) -> None:
        """The server goes on from what it saved last; devices know more than it does."""
        state, counted = self.old
        self.server.restore(state)
        self.counted = deepcopy(counted)
        known = self.devices
        self.devices = {
            m: known.get(m) or Device(m, self.scheme, seed=1) for m in self.server.members
        }

    @rule(m=which, place=places)
    def rot(self, m: int, place: int) -> None:
        """One float of a device's estimate goes wrong."""
        device = self.device(m)
        state = device.state()
        if len(state.estimate):
            wrong = state.estimate.copy()
            wrong[place % D] += np.float32(1)
            state.estimate = wrong
            device.restore(state)

    @precondition(lambda self: self.server.is_open)
    @rule()
    def close(self) -> None:
        assert self.server.state().weight + self.waiting_weight() == sum(
            self.counted.weights.values()
        )
        self.server.close_round()
        assert self.server.state().weight == sum(self.counted.weights.values())

    def waiting_weight(self) -> int:
        state = self.server.state()
        return sum(state.participants[m] for m in state.waiting)

    @invariant()
    def devices_in_sync_hold_the_estimate(self) -> None:
        if not hasattr(self, "server"):
            return
        for device in self.devices.values():
            if device.held == self.server.held:
                assert device.estimate.tobytes() == self.server.estimate.tobytes()

    @invariant()
    def ledger_equals_the_bytes(self) -> None:
        if not hasattr(self, "server"):
            return
        ledger = self.server.ledger
        assert ledger.total("down", view="unicast").nbytes == self.counted.down
        assert ledger.total("up", view="unicast").nbytes == self.counted.up
        assert ledger.total("down").nbytes <= self.counted.down

    @invariant()
    def everything_is_finite(self) -> None:
        if hasattr(self, "server"):
            state = self.server.state()
            vectors = (state.theta, state.estimate, state.moments.first, state.moments.second)
            assert all(np.isfinite(vector).all() for vector in vectors)


DEEP = os.environ.get("HYPOTHESIS_PROFILE") == "deep"
TestProtocol = Protocol.TestCase
TestProtocol.settings = settings(
    max_examples=1000 if DEEP else 80,
    stateful_step_count=200 if DEEP else 50,
    deadline=None,
    derandomize=not DEEP,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
