"""Membership, missed rounds, refusals, order of arrival, and state."""

import itertools
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.helpers import forge, laplace, seal

from lossyfl import (
    Delivery,
    Device,
    FrameError,
    FrameMeta,
    InputError,
    Kind,
    OutOfSync,
    Refused,
    Server,
    inspect,
    run_round,
    scheme,
)
from lossyfl.files import snapshot
from lossyfl.protocol.arguments import Listen
from lossyfl.protocol.digests import NOTHING
from lossyfl.protocol.optimizers import Moments
from lossyfl.protocol.schemes import names
from lossyfl.protocol.states import DeviceState, ServerState
from lossyfl.types import Vector
from lossyfl.wire import counts as wire_counts
from lossyfl.wire.frame import pack_raw

D = 2000
SMALL_FIRST = "lean:first_budget=3bit,down_budget=300B,up_budget=1bit"
PREDICTING = "lean:down_budget=300B,up_budget=1bit,predict=true"
SPECS = [
    "lossless",
    "lb",
    "lfl",
    "lgm",
    "ltgm",
    "lfl:server_optimizer=adam,server_model=preserved",
    SMALL_FIRST,
    PREDICTING,
]

ALL = [
    *SPECS,
    "lfl:compensate_server=true",
    "lean",
    "lb:q2=3",
]
"""Of all registered schemes, and of options that leave the lengths of states the same."""
STORED = Path(__file__).parents[1] / "stored"


def local(m: int, theta_hat: Vector) -> Vector:
    step: Vector = (laplace(D, seed=50 + m) - theta_hat) / np.float32(10)
    return theta_hat + step


def setup(
    spec: str = "lfl", devices: int = 4, listen: Listen = "all", log_bytes: int | None = None
) -> tuple[Server, dict[int, Device]]:
    chosen = scheme(spec)
    samples = {m: 10 * (m + 1) for m in range(devices)}
    server = Server(laplace(D), chosen, samples=samples, seed=3, listen=listen, log_bytes=log_bytes)
    return server, {m: Device(m, chosen, seed=3) for m in range(devices)}


def hear(server: Server, device: Device) -> Delivery:
    delivery = server.frames_for(device.number, device.held)
    device.receive(delivery)
    assert device.held == server.held
    assert device.estimate.tobytes() == server.estimate.tobytes()
    return delivery


class TestCatchUp:
    def test_broadcast_is_encoded_once(self) -> None:
        server, devices = setup()
        run_round(server, devices, local)
        server.open_round()
        handed = [server.frames_for(m, devices[m].held).frames for m in devices]
        assert len({id(frame) for frames in handed for frame in frames}) == 1

    @pytest.mark.parametrize("missed", [1, 2, 5, 9])
    def test_a_sleeper_gets_the_missing_frames_in_order(self, missed: int) -> None:
        server, devices = setup(log_bytes=10**6, listen="participants")
        run_round(server, devices, local)
        for _ in range(missed):
            run_round(server, devices, local, participants=[0, 1])
        server.open_round([3])
        delivery = hear(server, devices[3])
        assert len(delivery.frames) == missed + 1
        kinds = [e.kind for e in server.ledger.entries if e.device == 3 and e.direction == "down"]
        assert kinds == ["initial"] + ["catch-up"] * (missed + 1)

    def test_the_full_model_where_that_is_shorter(self) -> None:
        server, devices = setup("lfl:q1=1000,q2=1000", log_bytes=10**7, listen="participants")
        run_round(server, devices, local)
        for _ in range(6):
            run_round(server, devices, local, participants=[0])
        server.open_round([3])
        delivery = hear(server, devices[3])
        assert len(delivery.frames) == 1
        assert delivery.nbytes == 4 * D + 36

    def test_the_full_model_when_the_log_does_not_reach_back(self) -> None:
        server, devices = setup(log_bytes=800, listen="participants")
        run_round(server, devices, local)
        for _ in range(8):
            run_round(server, devices, local, participants=[0])
        assert 0 < sum(len(b.frame) for b in server.state().log) <= 800
        server.open_round([3])
        assert hear(server, devices[3]).nbytes == 4 * D + 36

    @pytest.mark.parametrize("spec", SPECS)
    def test_new_reset_and_diverged_devices_come_into_sync(self, spec: str) -> None:
        server, devices = setup(spec)
        for _ in range(3):
            run_round(server, devices, local)
        server.join(9, 50)
        server.open_round()
        hear(server, Device(9, server.scheme, seed=3))
        hear(server, Device(1, server.scheme, seed=3))  # has lost everything
        devices[2].restore(replace(devices[2].state(), estimate=devices[2].estimate * 2))
        hear(server, devices[2])

    def test_a_device_that_is_in_sync_gets_nothing(self) -> None:
        server, devices = setup()
        server.open_round()
        hear(server, devices[0])
        assert server.frames_for(0, devices[0].held).frames == ()

    def test_without_a_word_from_the_device_the_server_goes_by_what_it_sent(self) -> None:
        server, devices = setup()
        server.open_round()
        devices[0].receive(server.frames_for(0))
        assert server.frames_for(0).frames == ()

    def test_an_update_for_another_estimate_is_not_applied(self) -> None:
        server, devices = setup()
        run_round(server, devices, local)
        run_round(server, devices, local)
        server.open_round()
        wrong = Device(0, server.scheme)
        with pytest.raises(
            OutOfSync, match=r"device 0 holds EstimateVersion\(round=-1.*, the frame needs"
        ):
            wrong.receive(server.frames_for(0, devices[0].held))
        assert wrong.held.round == -1

    def test_unknown_devices_are_not_served(self) -> None:
        server, _ = setup()
        with pytest.raises(InputError, match="opened first"):
            server.frames_for(0)
        server.open_round()
        with pytest.raises(InputError, match="number of a device must be that of a member, got 77"):
            server.frames_for(77)


def facts(server: Server) -> tuple[object, ...]:
    state = server.state()
    vectors = (state.total.tobytes(), state.theta.tobytes(), state.estimate.tobytes())
    return *vectors, state.weight, state.turn, state.accepted, state.waiting, state.entries


class TestFullModelOnChange:
    """The paper's sentence: the global model is sent every time the subset of devices changes."""

    SPEC = "lfl:membership=full-model"

    def play(
        self, server: Server, devices: dict[int, Device], who: list[int] | None = None
    ) -> set[str]:
        """A round, and the kinds of frames that were sent down in it."""
        run_round(server, devices, local, participants=who)
        found = server.ledger.entries
        return {e.kind for e in found if e.direction == "down" and e.round == server.round}

    def test_all_get_the_exact_model_when_somebody_joins_or_leaves(self) -> None:
        server, devices = setup(self.SPEC)
        server.leave(3)
        assert [self.play(server, devices) for _ in range(3)] == [{"initial"}, *[{"update"}] * 2]
        server.join(3, 10)
        theta = server.theta
        assert self.play(server, devices) == {"initial"}
        assert server.estimate.tobytes() == theta.tobytes()
        assert all(device.held == server.held for device in devices.values())
        assert self.play(server, devices) == {"update"}
        server.leave(0)
        assert self.play(server, devices) == {"initial"}
        models = server.ledger.total("down", kinds=("initial",))
        assert models.nbytes < 3 * (4 * D + 50)  # heard by all at once

    def test_participants_that_change_count_where_only_they_listen(self) -> None:
        server, devices = setup(self.SPEC, listen="participants")
        found = [self.play(server, devices, who) for who in ([0, 1], [0, 1], [1, 2])]
        assert found == [{"initial"}, {"update"}, {"initial"}]

    def test_a_restored_server_knows_who_listened(self) -> None:
        server, devices = setup(self.SPEC)
        run_round(server, devices, local)
        other, _ = setup(self.SPEC)
        other.restore(server.state())
        assert self.play(other, devices) == {"update"}

    def test_unknown_words_are_refused(self) -> None:
        with pytest.raises(
            InputError, match=r"membership of lfl must be one of catch-up, full-model"
        ):
            scheme("lfl:membership=full")


class TestFirstModel:
    def test_the_server_starts_from_what_devices_hold(self) -> None:
        server, devices = setup(SMALL_FIRST)
        server.open_round()
        delivery = hear(server, devices[0])
        assert len(delivery.frames) == 1
        assert 0.97 * 3 * D <= 8 * len(delivery.frames[0]) <= 3 * D
        assert server.theta.tobytes() == server.estimate.tobytes()
        error = np.square(server.theta - laplace(D)).sum() / np.square(laplace(D)).sum()
        assert 0 < error < 0.05
        assert [e.kind for e in server.ledger.entries] == ["initial"]

    def test_newcomers_get_it_with_all_updates_while_that_is_shorter(self) -> None:
        server, devices = setup(SMALL_FIRST, log_bytes=10**6, listen="participants")
        for _ in range(3):
            run_round(server, devices, local, participants=[0, 1])
        server.open_round([3])
        delivery = hear(server, devices[3])
        assert len(delivery.frames) == 4
        assert {e.kind for e in server.ledger.entries if e.device == 3} == {"initial"}
        server.close_round()
        for _ in range(30):
            run_round(server, devices, local, participants=[0, 1])
        newcomer = Device(9, server.scheme, seed=3)
        server.join(9, 1)
        server.open_round([9])
        assert len(hear(server, newcomer).frames) == 1  # exact floats by now

    def test_others_send_exact_floats(self) -> None:
        server, devices = setup("lean:down_budget=300B,up_budget=1bit")
        server.open_round()
        hear(server, devices[0])
        assert server.theta.tobytes() == laplace(D).tobytes()

    @pytest.mark.parametrize("budget", ["1B", "1GB", "3", "-1bit"])
    def test_wrong_budgets_are_refused_before_the_first_round(self, budget: str) -> None:
        with pytest.raises(InputError, match="budget of the initial model"):
            setup(f"lean:first_budget={budget}")


class TestPrediction:
    """Who joins late needs the trend, too."""

    def late(self) -> tuple[Server, dict[int, Device], Delivery]:
        """A server in round 3, and what it hands to a device that has nothing."""
        server, devices = setup(PREDICTING, listen="participants")
        for _ in range(3):
            run_round(server, devices, local, participants=[0, 1])
        server.open_round()
        return server, devices, server.frames_for(3)

    def test_a_newcomer_stays_in_sync(self) -> None:
        server, devices, delivery = self.late()
        kinds = [inspect(frame).kind for frame in delivery.frames]
        assert kinds == ["trend", "model"]
        devices[3].receive(delivery)
        for m in range(3):
            hear(server, devices[m])
        server.close_round()
        for _ in range(4):
            run_round(server, devices, local)
            assert {devices[m].held for m in devices} == {server.held}

    def test_it_counts_as_one_model_of_floats(self) -> None:
        server, _, delivery = self.late()
        total = server.ledger.total("down", round=3)
        assert total.nbytes == delivery.nbytes > 2 * 4 * D
        assert total.raw_bytes == 4 * D

    def test_missed_frames_are_sent_while_they_are_shorter(self) -> None:
        server, devices, _ = self.late()
        assert len(hear(server, devices[0]).frames) == 1

    def test_without_the_trend_a_model_is_refused(self) -> None:
        _, devices, delivery = self.late()
        trend, model = delivery.frames
        with pytest.raises(FrameError, match="the trend of round 3 before its model"):
            devices[3].receive(replace(delivery, frames=(model,)))
        damaged = trend[:-1] + bytes([trend[-1] ^ 1])
        with pytest.raises(FrameError):
            devices[3].receive(replace(delivery, frames=(damaged, model)))
        assert devices[3].held.round == -1

    def test_a_refused_model_leaves_the_device_as_it_was(self) -> None:
        _, _, delivery = self.late()
        small = Server(laplace(100), scheme("lean:predict=true"), samples={5: 1})
        device = Device(5, small.scheme)
        small.open_round()
        device.receive(small.frames_for(5))
        small.accept(5, device.reply(laplace(100, seed=1)))
        before = device.state()
        with pytest.raises(FrameError, match="the trend of round 3"):
            device.receive(replace(delivery, frames=delivery.frames[1:]))
        after = device.state()
        assert after.uplink["memory"].tobytes() == before.uplink["memory"].tobytes()
        assert (after.reply, after.replied) == (before.reply, before.replied)
        device.restore(after)

    def test_the_trend_of_another_round_is_refused(self) -> None:
        server, devices, old = self.late()
        server.close_round()
        server.open_round()
        new = server.frames_for(3, NOTHING)
        with pytest.raises(
            FrameError, match="the trend of round 4 before its model, got one of round 3"
        ):
            devices[3].receive(replace(new, frames=(old.frames[0], new.frames[1])))


class TestRefusals:
    """Each names its reason, and leaves the server as it was."""

    def refuse(self, server: Server, device: int, reply: bytes, reason: str) -> None:
        before = facts(server)
        with pytest.raises(Refused) as error:
            server.accept(device, reply)
        assert error.value.reason == reason
        assert facts(server) == before

    def test_every_reason(self) -> None:
        server, devices = setup()
        run_round(server, devices, local)
        server.open_round([0, 1, 2])
        for m in range(3):
            hear(server, devices[m])
        reply = devices[0].reply(local(0, devices[0].estimate))
        self.refuse(server, 77, reply, "unknown")
        self.refuse(server, 3, reply, "uncalled")
        self.refuse(server, 1, reply[:-1], "damaged")
        self.refuse(server, 1, b"", "damaged")
        self.refuse(server, 1, b"garbage" * 30, "damaged")
        self.refuse(server, 1, b"garbage" * D, "oversized")
        self.refuse(server, 1, reply, "foreign")
        self.refuse(server, 1, forge(reply, 8, (1 << 60).to_bytes(8, "little")), "damaged")
        self.refuse(server, 1, forge(reply, 32, np.float32(np.nan).tobytes()), "damaged")
        self.refuse(server, 1, forge(reply, len(reply) - 30, b"\xff\xff\xff"), "damaged")
        self.refuse(server, 1, forge(reply, 4, b"\x02"), "foreign")
        meta = server.reply_meta(1)
        self.refuse(server, 1, pack_raw(laplace(D - 1), meta), "foreign")
        self.refuse(server, 1, forge(reply, 16, b"\x00\x00\x00\x00"), "late")
        self.refuse(server, 1, forge(reply, 16, b"\x09\x00\x00\x00"), "ahead")
        self.refuse(server, 1, forge(reply, 24, b"\x00" * 8), "diverged")
        server.accept(0, reply)
        self.refuse(server, 0, reply, "doubled")
        with pytest.raises(Refused, match="huge"):
            server.accept(1, pack_raw(np.full(D, 3e37, np.float32), meta))
        self.refuse(server, 1, pack_raw(laplace(D), meta), "doubled")
        server.close_round()
        self.refuse(server, 1, reply, "late")

    def test_a_reply_of_no_levels_is_damaged_and_the_model_stays_finite(self) -> None:
        """A uniform table of two symbols would decode to 0 / 0, which no comparison finds too large."""
        server, devices = setup()
        server.open_round()
        hear(server, devices[1])
        head = struct.pack(
            "<3sBBBHQIIQ", b"LFL", 1, 3, 2 | 1 << 4, 1, D, server.round, 0, server.held.digest
        )
        counts = wire_counts.write(np.array([1, 0], np.uint64))
        self.refuse(server, 1, seal(head + struct.pack("<ffBH", 0, 1, 0, 0) + counts), "damaged")
        server.accept(1, devices[1].reply(local(1, devices[1].estimate)))
        server.close_round()
        server.open_round()
        assert np.isfinite(server.theta).all()


class TestSum:
    @pytest.mark.parametrize("spec", ["lfl", "lossless", "lfl:scale=100", "ltgm"])
    def test_any_order_of_arrival_gives_the_same_bits(self, spec: str) -> None:
        models: set[bytes] = set()
        for order in itertools.permutations(range(4)):
            server, devices = setup(spec)
            server.open_round()
            for m in range(4):
                hear(server, devices[m])
            for m in order:
                server.accept(m, devices[m].reply(local(m, devices[m].estimate)))
            server.close_round()
            models.add(server.theta.tobytes())
        assert len(models) == 1

    def test_weights_are_over_those_that_answered(self) -> None:
        server, devices = setup("lossless")
        server.open_round()
        for m in range(4):
            hear(server, devices[m])
        updates = {m: local(m, devices[m].estimate) - devices[m].estimate for m in (3, 1)}
        for m in updates:
            server.accept(m, devices[m].reply(local(m, devices[m].estimate)))
        server.close_round()
        expected = (20 * updates[1].astype(float) + 40 * updates[3].astype(float)) / 60
        assert np.allclose(server.theta - server.estimate, expected, atol=1e-6)

    @pytest.mark.parametrize("spec", ["lfl", "lb:server_optimizer=momentum"])
    def test_a_round_without_replies_changes_nothing(self, spec: str) -> None:
        server, devices = setup(spec)
        run_round(server, devices, local)
        server.open_round()
        before = server.estimate if spec == "lfl" else server.theta
        server.close_round()
        assert server.theta.tobytes() == before.tobytes()

    def test_a_reply_stays_when_its_device_leaves(self) -> None:
        server, devices = setup("lossless")
        server.open_round()
        for m in (0, 3):
            hear(server, devices[m])
        server.accept(3, devices[3].reply(local(3, devices[3].estimate)))
        server.leave(3)
        server.close_round()
        assert not np.array_equal(server.theta, server.estimate)

    def test_leaving_and_joining_again_does_not_count_twice(self) -> None:
        server, devices = setup("lossless")
        server.open_round()
        hear(server, devices[3])
        reply = devices[3].reply(local(3, devices[3].estimate))
        server.accept(3, reply)
        server.leave(3)
        server.join(3, 40)
        with pytest.raises(Refused, match="doubled"):
            server.accept(3, reply)

    @pytest.mark.parametrize("bad", [np.inf, np.nan])
    @pytest.mark.parametrize("name", ["theta", "estimate", "moments", "total"])
    def test_a_state_that_is_not_finite_is_not_restored(self, bad: float, name: str) -> None:
        server, devices = setup("lfl:server_optimizer=momentum")
        run_round(server, devices, local)
        before, wrong = facts(server), np.full(D, bad, np.float32)
        value = Moments(first=wrong) if name == "moments" else wrong
        with pytest.raises(InputError, match="state of Server must be of finite floats"):
            server.restore(replace(server.state(), **{name: value}))
        assert facts(server) == before


class TestLostReply:
    @pytest.mark.parametrize("spec", ["lfl", "lb", "lgm"])
    def test_the_device_does_not_forget_an_update_that_never_arrived(self, spec: str) -> None:
        """delta after the loss = what was to be sent, so the next reply carries both updates."""
        server, devices = setup(spec)
        run_round(server, devices, local)
        server.open_round()
        device = devices[0]
        hear(server, device)
        wanted = local(0, device.estimate) - device.estimate + device.memory
        device.reply(local(0, device.estimate))  # lost on the way
        server.close_round()
        server.open_round()
        hear(server, device)
        assert np.allclose(device.memory, wanted, atol=1e-6)

    def test_a_reply_that_arrived_is_not_sent_again(self) -> None:
        server, devices = setup()
        run_round(server, devices, local)
        memory = devices[0].memory.copy()
        server.open_round()
        hear(server, devices[0])
        assert np.array_equal(devices[0].memory, memory)

    def test_one_reply_a_round(self) -> None:
        server, devices = setup()
        with pytest.raises(InputError, match="no model yet"):
            devices[0].reply(laplace(D))
        server.open_round()
        hear(server, devices[0])
        devices[0].reply(laplace(D))
        with pytest.raises(InputError, match="one of round 0 open"):
            devices[0].reply(laplace(D))

    @pytest.mark.parametrize("theta", [laplace(D - 1), np.full(D, np.nan, np.float32)])
    def test_wrong_models_change_nothing(self, theta: Vector) -> None:
        server, devices = setup()
        server.open_round()
        hear(server, devices[0])
        with pytest.raises(InputError, match="device 0"):
            devices[0].reply(theta)
        devices[0].reply(laplace(D))

    def test_a_reply_may_be_sent_again_in_its_round(self) -> None:
        server, devices = setup()
        server.open_round()
        hear(server, devices[0])
        reply = devices[0].reply(local(0, devices[0].estimate))
        assert devices[0].unsettled == reply
        server.accept(0, devices[0].unsettled)

    def test_leaving_and_joining_does_not_send_a_reply_again(self) -> None:
        server, devices = setup("lb")
        server.open_round()
        hear(server, devices[0])
        server.accept(0, devices[0].reply(local(0, devices[0].estimate)))
        memory = devices[0].memory.copy()
        server.close_round()
        server.leave(0)
        server.join(0, 10)
        server.open_round()
        hear(server, devices[0])
        assert np.array_equal(devices[0].memory, memory)

    def test_a_stale_delivery_does_not_take_a_reply_back(self) -> None:
        server, devices = setup("lb")
        server.open_round()
        old = server.frames_for(0, devices[0].held)
        devices[0].receive(old)
        server.close_round()
        server.open_round()
        hear(server, devices[0])
        server.accept(0, devices[0].reply(local(0, devices[0].estimate)))
        memory = devices[0].memory.copy()
        devices[0].receive(old)
        assert np.array_equal(devices[0].memory, memory)
        hear(server, devices[0])
        assert np.array_equal(devices[0].memory, memory)

    def test_a_device_restored_to_before_an_accepted_reply_starts_with_an_empty_memory(
        self,
    ) -> None:
        server, devices = setup()
        run_round(server, devices, local)
        before = devices[0].state()
        run_round(server, devices, local)
        assert devices[0].memory.any()
        devices[0].restore(before)
        server.open_round()
        hear(server, devices[0])
        assert not devices[0].memory.any()


class TestMemoryOfOthers:
    """What a caller does with the arrays it gets changes nothing inside."""

    def test_training_in_place(self) -> None:
        server, devices = setup("lossless")
        server.open_round()
        theta = devices[0].receive(server.frames_for(0))
        theta += np.float32(0.5)
        server.accept(0, devices[0].reply(theta))
        assert devices[0].estimate.tobytes() == server.estimate.tobytes()
        server.close_round()
        assert np.allclose(server.theta, laplace(D) + 0.5)

    def test_views_cannot_be_written(self) -> None:
        server, devices = setup()
        run_round(server, devices, local)
        for x in (server.theta, server.estimate, devices[0].estimate, devices[0].memory):
            with pytest.raises(ValueError, match="read-only"):
                x[0] = 1

    def test_a_state_is_a_copy(self) -> None:
        server, _ = setup()
        state = server.state()
        server.open_round()
        assert state.round == -1
        other, _ = setup()
        other.restore(server.state())
        other.close_round()
        assert server.is_open


class TestMisuse:
    def test_rounds_open_and_close_in_turn(self) -> None:
        server, _ = setup()
        with pytest.raises(InputError, match="round of Server must be open"):
            server.close_round()
        server.open_round()
        with pytest.raises(InputError, match="closed before the next is opened"):
            server.open_round()

    @pytest.mark.parametrize("samples", [0, -1, 1.5, True, 10**39])
    def test_samples(self, samples: int) -> None:
        with pytest.raises(InputError, match=r"samples of device 5 must be an int in \[1, 2\^53\]"):
            Server(laplace(5), scheme("lfl"), samples={5: samples})

    def test_participants_are_members(self) -> None:
        server, _ = setup()
        with pytest.raises(InputError, match="that of a member, got 8"):
            server.open_round([0, 8])
        assert not server.is_open


class TestState:
    @pytest.mark.parametrize("spec", SPECS)
    def test_saved_and_restored_anywhere_gives_the_same_bits(
        self, spec: str, tmp_path: Path
    ) -> None:
        def play(*, stops: bool) -> tuple[bytes, ...]:
            server, devices = setup(spec, listen="participants")

            def rest() -> None:
                nonlocal server, devices
                if not stops:
                    return
                snapshot.save(tmp_path / "server", server.state())
                server, fresh = setup(spec, listen="participants")
                server.restore(snapshot.load(tmp_path / "server", ServerState))
                for m, device in devices.items():
                    snapshot.save(tmp_path / "device", device.state())
                    fresh[m].restore(snapshot.load(tmp_path / "device", DeviceState))
                devices = fresh

            for t in range(6):
                server.open_round([m for m in range(4) if (m + t) % 3])
                rest()
                for m in reversed(server.participants):
                    devices[m].receive(server.frames_for(m, devices[m].held))
                    rest()
                    server.accept(m, devices[m].reply(local(m, devices[m].estimate)))
                    rest()
                server.close_round()
                rest()
            return server.theta.tobytes(), *(d.memory.tobytes() for d in devices.values())

        assert play(stops=True) == play(stops=False)

    @pytest.mark.parametrize("spec", ALL)
    def test_the_state_of_any_other_scheme_is_refused(self, spec: str) -> None:
        server, devices = setup(spec)
        run_round(server, devices, local)
        for other in ALL:
            fresh, others = setup(other)
            if other == spec:
                fresh.restore(server.state())
                others[0].restore(devices[0].state())
                continue
            with pytest.raises(InputError, match="state of Server must be of the scheme"):
                fresh.restore(server.state())
            with pytest.raises(InputError, match="state of device 0 must be of the scheme"):
                others[0].restore(devices[0].state())

    def test_all_registered_schemes_are_among_them(self) -> None:
        assert {spec.partition(":")[0] for spec in ALL} == set(names())
        assert len(ALL) * (len(ALL) - 1) == 110

    def test_another_spelling_is_the_same_scheme(self) -> None:
        server, devices = setup("lfl:q1=2,q2=3")
        run_round(server, devices, local)
        setup("lfl: q2=3, scale=model")[0].restore(server.state())

    def test_states_of_older_versions_say_no_scheme(self) -> None:
        """They are told apart by the lengths of their vectors, and go on."""
        spec = "lfl:server_optimizer=momentum"
        theta, samples = np.zeros(50, np.float32), {0: 1, 1: 2, 2: 3}
        server = Server(theta, scheme(spec), samples=samples, listen="participants")
        server.restore(snapshot.load(STORED / "server.safetensors", ServerState))
        device = Device(1, scheme(spec))
        device.restore(snapshot.load(STORED / "device.safetensors", DeviceState))
        assert device.held == server.held
        assert server.ledger.total("up").frames == 10
        server.close_round()
        run_round(server, {1: device}, lambda _, theta_hat: theta_hat + 1, participants=[1])
        assert server.ledger.total("up", round=4).frames == 1
        assert (server.state().scheme, device.state().scheme) == (spec, spec)
        with pytest.raises(InputError, match="state of Server must be of the scheme lossless"):
            Server(theta, scheme("lossless"), samples=samples).restore(
                snapshot.load(STORED / "server.safetensors", ServerState)
            )

    def test_other_files_are_refused(self, tmp_path: Path) -> None:
        snapshot.save(tmp_path / "d", DeviceState())
        with pytest.raises(InputError, match="lossyfl-snapshot-1 of ServerState"):
            snapshot.load(tmp_path / "d", ServerState)
        with pytest.raises(InputError, match="one that exists"):
            snapshot.load(tmp_path / "no", ServerState)
        text = (tmp_path / "d").read_bytes().replace(b"replied", b"replode")
        assert b"replode" in text
        (tmp_path / "d").write_bytes(text)
        with pytest.raises(InputError, match="a whole DeviceState"):
            snapshot.load(tmp_path / "d", DeviceState)


class TestSettle:
    """A carrier that knows what became of a reply may say so at once: the same bits as later."""

    @pytest.mark.parametrize("spec", SPECS)
    def test_lost_replies_are_kept_the_same_way(self, spec: str) -> None:
        server, devices = setup(spec, devices=1)
        patient, told = devices[0], Device(0, server.scheme, seed=3)
        for t in range(6):
            server.open_round()
            told.receive(server.frames_for(0, told.held))
            patient.receive(server.frames_for(0, patient.held))
            replies = [d.reply(local(0, d.estimate.copy())) for d in (patient, told)]
            assert replies[0] == replies[1]
            arrived = t % 3 != 1
            told.settle(arrived=arrived)
            if arrived:
                server.accept(0, replies[0])
            server.close_round()
        assert told.unsettled == b""

    def test_there_must_be_a_reply(self) -> None:
        _, devices = setup(devices=1)
        with pytest.raises(InputError, match="reply of device 0 must be open, got none"):
            devices[0].settle(arrived=True)


class TestExpectedLength:
    """A few bytes can stand for any number of entries: what is expected is the limit."""

    def model(self, entries: int) -> bytes:
        return pack_raw(np.zeros(entries, np.float32), FrameMeta(kind=Kind.MODEL))

    def test_a_device_that_knows_its_tensors_takes_no_longer_model(self) -> None:
        device = Device(0, scheme("lfl"), tensors=(3, 4))
        with pytest.raises(FrameError, match="1 to 7 entries"):
            device.receive(Delivery(frames=(self.model(8),), accepted=-1))

    def test_a_device_that_does_not_is_told_how_much_it_may_take(self) -> None:
        device = Device(0, scheme("lfl"), max_entries=5)
        with pytest.raises(FrameError, match="1 to 5 entries"):
            device.receive(Delivery(frames=(self.model(8),), accepted=-1))
