"""Merged catch-up: the same theta_hat to the bit as frame by frame, in fewer bytes, or not at all."""

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import Delivery, Device, EstimateVersion, Kind, Server, scheme
from lossyfl.protocol import broadcaster
from lossyfl.protocol.digests import NOTHING
from lossyfl.types import Vector
from lossyfl.wire.frame import pack_raw
from lossyfl.wire.header import read_header

D = 3000
SHAPES = ((50, 50), (500,))
ROUNDS = 24
SPECS = (
    "lfl:grid=true",
    "lfl:grid=true,scale=tensor,q1=5",
    "lfl:grid=true,server_model=preserved,damping=true,q1=4",
    "lean:grid=true,first_budget=5bit,down_budget=0.3bit",
    "lean:grid=true,down=topk,down_budget=0.3bit",
    "lean:grid=true,down=qsgd(levels=64)",
)


def theta(t: int) -> Vector:
    """A model that goes somewhere, and to and fro on the way."""
    way, noise = np.float32(0.02 * t) * laplace(D, 2), np.float32(0.05) * laplace(D, t)
    return (laplace(D, 1) + way + noise).astype(np.float32)


class Federation:
    """A server whose model moves as it is told, and the state of a device after each of its rounds."""

    def __init__(self, spec: str, log_bytes: int | None = None) -> None:
        self.scheme = scheme(spec)
        self.server = Server(
            theta(0), self.scheme, samples={0: 1}, tensors=SHAPES, log_bytes=log_bytes
        )
        self.always = self.device()
        self.states = [self.always.state()]
        self.sizes = [0]
        self.heard: list[list[Kind]] = []

    def device(self) -> Device:
        return Device(0, self.scheme, tensors=SHAPES)

    def play(self, rounds: int = ROUNDS, scale: float = 1.0) -> None:
        for _ in range(rounds):
            number = self.server.round + 1
            if number > 0:
                state = self.server.state()
                state.theta = np.float32(scale) * theta(number)
                self.server.restore(state)
            self.server.open_round()
            delivery = self.server.frames_for(0, self.always.held)
            self.always.receive(delivery)
            self.sizes.append(delivery.nbytes)
            self.heard.append(kinds(delivery))
            self.states.append(self.always.state())
            self.server.close_round()

    def behind(self, rounds: int) -> Device:
        """A device that has missed so many rounds."""
        device = self.device()
        device.restore(self.states[-1 - rounds])
        return device

    def catch_up(self, rounds: int) -> Delivery:
        return self.server.frames_for(0, self.behind(rounds).held)


@pytest.fixture(params=SPECS)
def federation(request: pytest.FixtureRequest) -> Federation:
    made = Federation(request.param, log_bytes=10**6)
    made.play()
    return made


def kinds(delivery: Delivery) -> list[Kind]:
    return [read_header(frame).meta.kind for frame in delivery.frames]


class TestCatchingUp:
    def test_every_lag_leads_to_the_same_bits(self, federation: Federation) -> None:
        for lag in range(1, ROUNDS + 1):
            device = federation.behind(lag)
            device.receive(federation.server.frames_for(0, device.held))
            assert device.held == federation.server.held
            assert device.estimate.tobytes() == federation.server.estimate.tobytes()

    def test_long_lags_get_one_frame(self, federation: Federation) -> None:
        for lag in (4, 9, ROUNDS - 1):
            delivery = federation.catch_up(lag)
            assert kinds(delivery) in ([Kind.MERGED], [Kind.MODEL])
            assert delivery.nbytes < sum(federation.sizes[-lag:])

    def test_what_is_merged_says_from_where_to_where(self, federation: Federation) -> None:
        device = federation.behind(3)
        (frame,) = federation.catch_up(3).frames
        meta, held = read_header(frame).meta, federation.server.held
        assert meta.kind == Kind.MERGED
        assert EstimateVersion(round=meta.since, digest=meta.digest) == device.held
        assert EstimateVersion(round=meta.round, digest=meta.result) == held

    def test_a_device_goes_on_from_there(self, federation: Federation) -> None:
        device = federation.behind(5)
        device.receive(federation.catch_up(5))
        federation.play(1)
        device.receive(federation.server.frames_for(0, device.held))
        assert device.held == federation.server.held

    def test_the_ledger_counts_its_real_bytes_as_catch_up(self, federation: Federation) -> None:
        before = federation.server.ledger.total("down", view="unicast", kinds=("catch-up",))
        delivery = federation.catch_up(6)
        after = federation.server.ledger.total("down", view="unicast", kinds=("catch-up",))
        assert after.nbytes - before.nbytes == delivery.nbytes
        assert after.frames - before.frames == 1


class TestWork:
    def test_a_lag_is_encoded_once_a_round(self, federation: Federation) -> None:
        first, second = federation.catch_up(7), federation.catch_up(7)
        assert first.frames[0] is second.frames[0]

    def test_bytes_do_not_depend_on_who_asks_first(self, federation: Federation) -> None:
        """A longer lag goes on from a shorter one that is there already."""
        upwards = [federation.catch_up(lag).frames for lag in range(2, ROUNDS)]
        federation.server.restore(federation.server.state())  # forgets what it has made
        downwards = [federation.catch_up(lag).frames for lag in reversed(range(2, ROUNDS))]
        assert upwards == downwards[::-1]


class TestShortest:
    def test_beyond_the_log_the_model_on_its_grid(self) -> None:
        federation = Federation("lean:grid=true,first_budget=5bit,down_budget=0.3bit", log_bytes=0)
        federation.play()
        for held in (NOTHING, federation.behind(5).held):
            delivery = federation.server.frames_for(0, held)
            device = federation.device()
            device.receive(delivery)
            assert kinds(delivery) == [Kind.MODEL]
            assert delivery.nbytes < 1.5 * D
            assert device.held == federation.server.held

    def test_who_joins_early_gets_the_initial_model_and_what_changed(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Where the model now has to be floats, as one with too many multiples of its step."""
        monkeypatch.setattr(broadcaster, "exact_model", lambda x, meta, *_: pack_raw(x, meta))
        federation = Federation("lean:grid=true,first_budget=5bit,down_budget=0.3bit")
        federation.play(4)
        delivery = federation.server.frames_for(0, NOTHING)
        device = federation.device()
        device.receive(delivery)
        assert kinds(delivery) == [Kind.MODEL, Kind.MERGED]
        assert device.held == federation.server.held

    def test_without_a_grid_as_before(self) -> None:
        federation = Federation("lean:first_budget=5bit,down_budget=0.3bit")
        federation.play()
        assert kinds(federation.catch_up(3)) == [Kind.UPDATE] * 3


class TestOutgrown:
    """A model that becomes a million times as large: an addition would round, so all begin anew."""

    def grown(self) -> Federation:
        federation = Federation("lean:grid=true,first_budget=12bit,down_budget=1bit", 10**7)
        federation.play(6, scale=1e-4)
        for scale in (1e-1, 1e3):
            federation.play(2, scale=scale)
        federation.play(6, scale=1e6)
        return federation

    def test_the_frame_is_a_model_to_all(self) -> None:
        """At the leap to 10^6; those before fit into 24 bits."""
        heard = self.grown().heard
        assert heard[10] == [Kind.MODEL]
        assert heard[9] == heard[11] == [Kind.UPDATE]

    def test_every_lag_leads_to_the_same_bits(self) -> None:
        federation = self.grown()
        for lag in range(1, 17):
            device = federation.behind(lag)
            device.receive(federation.catch_up(lag))
            assert device.held == federation.server.held
            assert device.estimate.tobytes() == federation.server.estimate.tobytes()

    def test_nothing_is_merged_across_it_and_all_that_follows_is(self) -> None:
        federation = self.grown()
        assert kinds(federation.catch_up(4)) == [Kind.MERGED]
        assert kinds(federation.catch_up(12)) == [Kind.MODEL]
        assert not any(each.round < 11 for each in federation.server.state().log)
