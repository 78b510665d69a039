"""What a device makes of a server that went back, and of an answer that nobody wanted."""

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import (
    Delivery,
    Device,
    FrameError,
    FrameMeta,
    InputError,
    Kind,
    Refused,
    Server,
    decode,
    run_round,
    scheme,
)
from lossyfl.errors import NotFinite
from lossyfl.protocol.arguments import Listen
from lossyfl.protocol.digests import digest
from lossyfl.types import Vector
from lossyfl.wire.frame import pack_raw

D = 300
SPECS = ["lossless", "lb", "lfl", "lgm", "ltgm", "lean:predict=true"]


def local(m: int, theta_hat: Vector) -> Vector:
    step: Vector = (laplace(D, seed=50 + m) - theta_hat) / np.float32(10)
    return theta_hat + step


def setup(spec: str, listen: Listen = "all") -> tuple[Server, dict[int, Device]]:
    chosen = scheme(spec)
    server = Server(laplace(D), chosen, samples={0: 1, 1: 2, 2: 3, 3: 4}, listen=listen)
    return server, {m: Device(m, chosen) for m in range(4)}


class TestServerWentBack:
    """A server that was restored to an older state: devices know more than it does."""

    @pytest.mark.parametrize("listen", ["all", "participants"])
    @pytest.mark.parametrize("spec", SPECS)
    def test_devices_are_in_sync_and_heard_in_the_next_round(
        self, spec: str, listen: Listen
    ) -> None:
        server, devices = setup(spec, listen)
        old = server.state()
        for t in range(8):
            run_round(server, devices, local, participants=[m for m in range(4) if (m + t) % 3])
            if t == 2:
                old = server.state()
        server.restore(old)
        for t in range(8):
            run_round(server, devices, local, participants=[m for m in range(4) if (m + t) % 3])
            for m in range(4):
                if (m + t) % 3 or listen == "all":
                    assert devices[m].held == server.held
        assert not server.ledger.refusals.counts

    @pytest.mark.parametrize("spec", SPECS)
    def test_without_a_word_from_devices_it_takes_one_refusal(self, spec: str) -> None:
        server, devices = setup(spec)
        old = server.state()
        for t in range(6):
            run_round(server, devices, local)
            if t == 2:
                old = server.state()
        server.restore(old)
        reasons: list[list[str]] = []
        for _ in range(3):
            server.open_round()
            reasons.append([_answer(server, device) for device in devices.values()])
            server.close_round()
        direct = not server.scheme.downlink.incremental
        assert reasons == [[""] * 4 if direct else ["ahead"] * 4, [""] * 4, [""] * 4]

    def test_what_the_open_reply_carried_goes_along(self) -> None:
        server, devices = setup("lfl")
        device = devices[0]
        run_round(server, devices, local)
        old = server.state()
        for _ in range(3):
            run_round(server, devices, local)
        open_reply = device.memory + _carried(server, device.unsettled)
        server.restore(old)
        server.open_round()
        device.receive(server.frames_for(0, device.held))
        update = local(0, device.estimate) - device.estimate
        reply = device.reply(local(0, device.estimate))
        sent = _carried(server, reply)
        assert np.allclose(sent + device.memory, open_reply + update, atol=1e-5)
        server.accept(0, reply)

    def test_a_reply_that_is_accepted_after_it_went_back_is_the_last_one(self) -> None:
        """A device that is then restored to before that reply does not send it twice."""
        server, devices = setup("lfl")
        run_round(server, devices, local)
        old = server.state()
        for _ in range(5):
            run_round(server, devices, local)
        server.restore(old)
        run_round(server, devices, local)
        run_round(server, devices, local)
        before = devices[0].state()
        run_round(server, devices, local)
        devices[0].restore(before)
        run_round(server, devices, local)
        server.open_round()
        devices[0].receive(server.frames_for(0, devices[0].held))
        assert devices[0].state().accepted == 4


class TestSecondAnswer:
    """One answer per round is accepted; what another one carries stays with the device."""

    @pytest.mark.parametrize("spec", ["lb", "lfl", "lgm"])
    def test_its_content_goes_back(self, spec: str) -> None:
        server, devices = setup(spec)
        device = devices[0]
        run_round(server, devices, local)
        server.open_round()
        total = arrived = np.zeros(D)
        device.receive(server.frames_for(0, device.held))
        start = device.memory.astype(float)
        for m in range(3):
            theta = local(m, device.estimate)
            total = total + (theta - device.estimate)
            reply = device.reply(theta)
            if m == 0:
                server.accept(0, reply)
                arrived = _carried(server, reply).astype(float)
            else:
                with pytest.raises(Refused, match="doubled"):
                    server.accept(0, reply)
            device.receive(server.frames_for(0, device.held))
        server.close_round()
        server.open_round()
        device.receive(server.frames_for(0, device.held))
        assert np.allclose(start + total, arrived + device.memory, atol=1e-5)

    def test_an_answer_after_a_late_delivery_does_not_wedge_the_device(self) -> None:
        """It goes back to an old model, trains that, and is refused; then it goes on."""
        server, devices = setup("lb")
        device = devices[0]
        server.open_round()
        old = server.frames_for(0, device.held)
        device.receive(old)
        server.close_round()
        for _ in range(3):
            run_round(server, devices, local)
        server.open_round()
        device.receive(server.frames_for(0, device.held))
        device.receive(old)
        with pytest.raises(Refused, match="late"):
            server.accept(0, device.reply(local(0, device.estimate)))
        server.close_round()
        run_round(server, devices, local)
        assert server.ledger.total("up", round=server.round).frames == 4


def _answer(server: Server, device: Device) -> str:
    """What became of a device's reply, where the server goes by what it has sent."""
    device.receive(server.frames_for(device.number))
    try:
        server.accept(device.number, device.reply(local(device.number, device.estimate)))
    except Refused as refused:
        return refused.reason
    return ""


def _carried(server: Server, reply: bytes) -> Vector:
    """What a reply says, uncoded."""
    return decode(reply, max_entries=len(server.theta))


@pytest.mark.parametrize("signs", [np.ones(1000), np.repeat([1, -1], 500)])
def test_a_model_whose_sum_overflows_is_answered(signs: Vector) -> None:
    """Every entry is finite, so it is a model like any other; pytest makes an error of a warning."""
    model = (signs * 3e38).astype(np.float32)
    meta = FrameMeta(kind=Kind.MODEL, digest=digest(model))
    device = Device(0, scheme("lfl"))
    device.reply(device.receive(Delivery(frames=(pack_raw(model, meta),), accepted=-1)))
    assert device.unsettled


@pytest.mark.parametrize("spec", ["lfl", "lean:predict=true"])
def test_an_update_that_would_make_the_model_infinite_is_not_applied(spec: str) -> None:
    device = Device(0, scheme(spec))
    huge = np.full(D, 3e38, np.float32)
    model = pack_raw(huge, FrameMeta(kind=Kind.MODEL, round=0, digest=digest(huge)))
    device.receive(Delivery(frames=(model,), accepted=-1))
    update = pack_raw(huge, FrameMeta(kind=Kind.UPDATE, round=1, digest=device.held.digest))
    before = device.held
    with pytest.raises(FrameError, match="an update that leaves the model finite"):
        device.receive(Delivery(frames=(update,), accepted=-1))
    assert device.held == before
    assert np.isfinite(device.estimate).all()
    device.restore(device.state())
    small = np.ones(D, np.float32)
    healing = pack_raw(small, FrameMeta(kind=Kind.MODEL, round=0, digest=digest(small)))
    assert np.array_equal(device.receive(Delivery(frames=(healing,), accepted=-1)), small)


@pytest.mark.parametrize("spec", ["lfl", "lossless", "lean:predict=true", "lean:up=eden"])
def test_a_reply_that_overflows_is_refused_and_changes_nothing(spec: str) -> None:
    """pytest makes an error of a warning."""
    device = Device(0, scheme(spec))
    huge = np.full(D, 3e38, np.float32)
    model = pack_raw(huge, FrameMeta(kind=Kind.MODEL, round=0, digest=digest(huge)))
    device.receive(Delivery(frames=(model,), accepted=-1))
    with pytest.raises(NotFinite, match="got -inf"):
        device.reply(-huge)
    assert not device.unsettled
    assert np.isfinite(device.memory).all()
    assert device.reply(huge)


class TestWhatIsNoModelOrDelivery:
    """What somebody's server may send in a delivery."""

    @pytest.mark.parametrize("entries", [D - 1, D + 1, 1])
    def test_a_model_of_another_length_is_not_taken(self, entries: int) -> None:
        device = Device(0, scheme("lfl"), tensors=(D - 100, 100))
        device.receive(Delivery(frames=(model(laplace(D), 0),), accepted=-1))
        before = device.held
        with pytest.raises(FrameError, match=rf"expected .*{D} entries"):
            device.receive(Delivery(frames=(model(laplace(entries), 1),), accepted=-1))
        assert device.held == before

    @pytest.mark.parametrize("accepted", [1 << 32, -3, 0.5, float("nan"), "1", None])
    def test_what_is_said_to_be_accepted_is_a_round(self, accepted: int) -> None:
        """It is noted in the device's state, which must be one that can be restored."""
        with pytest.raises(InputError, match="accepted of a delivery must be a round"):
            Delivery(frames=(), accepted=accepted)


def model(x: Vector, number: int) -> bytes:
    return pack_raw(x, FrameMeta(kind=Kind.MODEL, round=number, digest=digest(x)))
