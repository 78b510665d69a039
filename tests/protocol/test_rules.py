"""Rules against replies that would harm: what is refused, clipped or noted, and that honest ones are not."""

import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import f32, laplace

from lossyfl import Device, InputError, Refused, run_round, scheme
from lossyfl.files import snapshot
from lossyfl.protocol.adapter_server import AdapterServer
from lossyfl.protocol.rules import (
    LARGEST,
    WINDOW,
    Norm,
    Norms,
    ReplyRule,
    capped_weights,
    is_within,
    usual,
)
from lossyfl.protocol.states import ServerState
from lossyfl.types import Vector
from lossyfl.wire.frame import pack_raw

D = 40
OFF = ReplyRule(norm="off")


def federation(
    spec: str = "lossless", devices: int = 5, rule: ReplyRule | None = None
) -> tuple[AdapterServer, dict[int, Device]]:
    chosen = scheme(spec)
    samples = dict.fromkeys(range(devices), 1)
    server = AdapterServer(laplace(D), chosen, samples=samples, rule=rule or ReplyRule())
    return server, {m: Device(m, chosen) for m in range(devices)}


def local(m: int, theta_hat: Vector) -> Vector:
    step: Vector = np.float32(0.1) * laplace(D, seed=m + 1)
    return theta_hat + step


def hostile(server: AdapterServer, device: int, value: float) -> bytes:
    """A valid reply of the device, all of one value."""
    return pack_raw(np.full(D, value, np.float32), server.reply_meta(device))


def send(server: AdapterServer, device: int, value: float) -> str:
    """What became of such a reply: the reason, or nothing."""
    try:
        server.accept(device, hostile(server, device, value))
    except Refused as refused:
        return refused.reason
    return ""


class TestNorm:
    def test_one_of_five_does_not_own_the_model(self) -> None:
        """In the first round, too, where it is found only at the end, and in any order of arrival."""
        for order in itertools.permutations(range(5), 2):
            server, _ = federation()
            server.open_round()
            for m in sorted(range(5), key=lambda m: (m not in order, m)):
                assert send(server, m, 1e30 if m == 2 else 0.1) == ""
            server.close_round()
            assert np.allclose(server.theta, laplace(D) + 0.1)
            assert server.ledger.refusals.counts == {"outlier": 1}
            (refusal,) = server.ledger.refusals.recent
            assert (refusal.round, refusal.device, refusal.reason) == (0, 2, "outlier")
            assert "times the usual one" in refusal.detail
            assert server.ledger.total("up").frames == 4
            server.open_round()
            assert server.frames_for(2).accepted == 0  # it is to forget that reply
            assert send(server, 2, 1e30) == "outlier"  # at once, now that others are known

    @pytest.mark.parametrize("spec", ["lfl", "lb", "ltgm", "lfl:q2=1,damping=true", "lossless"])
    @pytest.mark.parametrize("bad", [0, 3])
    def test_a_device_is_heard_again_once_its_updates_are_usual(self, spec: str, bad: int) -> None:
        """One training that went wrong: what it gave is forgotten, or every later reply would carry it."""
        server, devices = federation(spec)
        refused: list[tuple[int, str]] = []
        for t in range(40):
            server.open_round()
            for m, device in devices.items():
                device.receive(server.frames_for(m, device.held))
                scale = np.float32(1e6 if (t, m) == (bad, 2) else 0.1)
                try:
                    server.accept(m, device.reply(device.estimate + scale * laplace(D, seed=t)))
                except Refused as error:
                    refused.append((m, error.reason))
            server.close_round()
        assert set(refused) <= {(2, "outlier")}
        assert server.ledger.refusals.counts["outlier"] >= 1
        assert server.ledger.total("up", round=39).frames == 5

    @pytest.mark.parametrize("value", [4e37, 1e30, 1e24])
    @pytest.mark.parametrize(
        "spec", ["lfl", "ltgm", "lfl:server_optimizer=momentum", "lb:server_optimizer=adam"]
    )
    def test_training_goes_on_as_if_it_had_not_answered(self, spec: str, value: float) -> None:
        models: list[bytes] = []
        for answers in (True, False):
            server, devices = federation(spec)
            for _ in range(12):
                server.open_round()
                for m in range(4):
                    devices[m].receive(server.frames_for(m, devices[m].held))
                    server.accept(m, devices[m].reply(local(m, devices[m].estimate)))
                if answers:
                    assert send(server, 4, value) in ("", "outlier", "huge")
                server.close_round()
            models.append(server.theta.tobytes())
            assert sum(server.ledger.refusals.counts.values()) == 12 * answers
        assert models[0] == models[1]

    def test_one_reply_does_not_freeze_adam(self) -> None:
        server, _ = federation("lossless:server_optimizer=adam", devices=100)
        for t in range(3):
            server.open_round()
            for m in range(100):
                assert send(server, m, 1e24 if m == 50 else 0.1) in ("", "outlier")
            server.close_round()
            assert server.ledger.refusals.counts["outlier"] == t + 1
        assert server.state().moments.second.max() < 1

    @pytest.mark.parametrize("spec", ["lossless", "lfl", "lb:scale=8", "ltgm", "lean"])
    def test_honest_training_is_left_alone(self, spec: str) -> None:
        models: list[bytes] = []
        for rule in (OFF, ReplyRule(), ReplyRule(norm="clip"), ReplyRule(norm="warn")):
            server, devices = federation(spec, rule=rule)
            for _ in range(5):
                run_round(server, devices, local)
            models.append(server.theta.tobytes())
            assert not server.ledger.refusals.counts
        assert len(set(models)) == 1

    def test_clipped_to_the_bound(self) -> None:
        server, devices = federation(rule=ReplyRule(norm="clip", factor=2))
        server.open_round()
        for m in range(5):
            send(server, m, -7.0 if m == 4 else 0.5)
        server.close_round()
        assert np.allclose(server.theta, laplace(D) + (4 * 0.5 - 2 * 0.5) / 5)
        assert server.ledger.refusals.counts == {"clipped": 1}
        server.open_round()
        assert np.allclose(server.accept_and_decode(4, hostile(server, 4, 3.0)), 1.0)
        del devices

    def test_warned_but_taken(self) -> None:
        server, _ = federation(rule=ReplyRule(norm="warn", factor=2))
        server.open_round()
        for m in range(5):
            send(server, m, 5.0 if m == 4 else 0.5)
        server.close_round()
        assert np.allclose(server.theta, laplace(D) + 7 / 5)
        assert server.ledger.refusals.counts == {"warned": 1}

    @pytest.mark.parametrize("devices", [1, 2])
    def test_without_a_majority_nobody_is_refused(self, devices: int) -> None:
        server, _ = federation(devices=devices)
        for _ in range(20):
            server.open_round()
            assert [send(server, m, 10.0 ** (6 * m)) for m in range(devices)] == [""] * devices
            server.close_round()
        assert not server.ledger.refusals.counts

    def test_zeros_are_taken_and_say_nothing(self) -> None:
        server, _ = federation()
        for value in (0.0, 0.0, 0.1, 0.0, 0.1):
            server.open_round()
            assert [send(server, m, value) for m in range(5)] == [""] * 5
            server.close_round()
        assert np.allclose(server.theta, laplace(D) + 0.2)

    @pytest.mark.parametrize("way", ["accept", "compare", "give"])
    def test_a_few_decide_nothing_where_most_say_nothing_yet(self, way: str) -> None:
        """Coarse quantizers may send zeros for a while: what the others send is not usual by that."""
        server, _ = federation()
        for t in range(3):
            server.open_round()
            values = {0: 1e30, 1: 0.0, 2: 0.0, 3: 0.1, 4: 0.0}
            replies = {m: hostile(server, m, value) for m, value in values.items()}
            if way != "accept":
                server.compare(replies)
            refused = 0
            for m in values:
                try:
                    (server.accept_and_decode if way == "give" else server.accept)(m, replies[m])
                except Refused as error:
                    refused += error.reason == "outlier"
            server.close_round()
            assert refused == (0 if way == "accept" else 2)  # or when the round closes
            assert server.ledger.refusals.counts == {"outlier": 2 * (t + 1)}
        assert np.array_equal(server.theta, laplace(D))
        server.open_round()
        sent = [send(server, m, 1e30 if m == 0 else 0.1) for m in range(5)]
        server.close_round()
        assert sent == [""] * 5
        assert np.allclose(server.theta, laplace(D) + 0.1)

    @pytest.mark.parametrize(("norm", "reason"), [("clip", "outlier"), ("warn", "warned")])
    def test_where_most_say_nothing_there_is_no_bound_to_clip_to(
        self, norm: Norm, reason: str
    ) -> None:
        server, _ = federation(rule=ReplyRule(norm=norm))
        server.open_round()
        for m in range(5):
            assert send(server, m, 5.0 if m == 4 else 0.0) == ""
        server.close_round()
        assert server.ledger.refusals.counts == {reason: 1}
        assert np.allclose(server.theta, laplace(D) + (norm == "warn"))

    def test_it_follows_updates_that_shrink_and_grow(self) -> None:
        """Steps of a schedule, tenfold at a time, in both directions, with few devices and many."""
        for devices in (3, 40):
            server, _ = federation(devices=devices)
            for value in (1.0, 0.1, 0.01, 0.001, 0.01, 0.1, 1.0, 10.0):
                for _ in range(-(-WINDOW // devices)):
                    server.open_round()
                    assert {send(server, m, value) for m in range(devices)} == {""}
                    server.close_round()

    def test_where_all_send_more_from_now_on_it_gives_in(self) -> None:
        server, _ = federation(devices=7)
        values, reasons = [1e-6] * 6 + [1.0] * 6, list[set[str]]()
        for value in values:
            server.open_round()
            reasons.append({send(server, m, value) for m in range(7)})
            server.close_round()
        assert reasons[6] == {"outlier"}
        assert reasons[-1] == {""}
        assert reasons == sorted(reasons[:6]) + sorted(reasons[6:], reverse=True)

    def test_a_minority_never_becomes_usual(self) -> None:
        """A fifth of ten devices, three drawn per round: in some rounds the majority is theirs."""
        server, _ = federation(devices=10)
        rng = np.random.default_rng(0)
        for t in range(100):
            drawn = range(10) if t == 0 else rng.choice(10, 3, replace=False).tolist()
            server.open_round(drawn)
            for m in server.participants:
                assert send(server, m, 1e20 if m < 2 else 0.1) in ("", "outlier")
            server.close_round()
        assert server.theta.max() < 50
        assert server.ledger.refusals.counts["outlier"] > 40

    def test_a_round_without_replies_changes_nothing(self) -> None:
        server, _ = federation()
        for m in (range(5), (), ()):
            server.open_round()
            for each in m:
                send(server, each, 0.1)
            server.close_round()
        server.open_round()
        assert send(server, 0, 1e3) == "outlier"

    @pytest.mark.parametrize("evil", [1e26, 1e-20])
    @pytest.mark.parametrize("first", [True, False])
    def test_fewer_than_half_decide_nothing_in_the_first_round(
        self, evil: float, first: bool
    ) -> None:
        """Whatever their numbers, and whether they answer first or last."""
        server, _ = federation(devices=201)
        server.open_round()
        for m in range(201) if first else reversed(range(201)):
            assert send(server, m, evil if m < 100 else 0.1) == ""
        server.close_round()
        assert np.max(np.abs(server.theta - laplace(D))) < 0.2
        refused = 100 if evil > 1 else 0
        assert server.ledger.refusals.counts == ({"outlier": refused} if refused else {})

    @pytest.mark.parametrize("kept", [0, 3])
    def test_in_the_first_round_replies_wait_until_all_have_come(self, kept: int) -> None:
        server, _ = federation(devices=8)
        server.open_round()
        for m in range(8):
            if m != kept:
                send(server, m, 1e6 if m == 5 else 0.1)
                assert len(server.state().waiting) == len(server.state().answered)
        send(server, kept, 0.1)
        assert not server.state().waiting
        assert server.ledger.refusals.counts == {"outlier": 1}

    def test_nobody_waits_for_one_that_was_refused(self) -> None:
        server, _ = federation()
        for value in (0.1, 1e9):
            server.open_round()
            for m in range(5):
                assert send(server, m, value if m == 1 else 0.1) == (
                    "outlier" if (m, value) == (1, 1e9) else ""
                )
            assert not server.state().waiting
            server.close_round()
        assert np.allclose(server.theta, laplace(D) + 0.2)

    def test_whoever_has_all_replies_in_hand_hears_of_outliers_at_once(self) -> None:
        server, _ = federation()
        server.open_round()
        replies = {m: hostile(server, m, 1e9 if m == 1 else 0.1) for m in range(5)}
        replies[3] = b"junk"
        server.compare(replies)
        with pytest.raises(Refused, match="outlier"):
            server.accept_and_decode(1, replies[1])
        with pytest.raises(Refused, match="damaged"):
            server.accept(3, replies[3])
        server.accept(0, replies[0])

    def test_a_restored_server_judges_the_same(self, tmp_path: Path) -> None:
        def play(*, stops: bool) -> tuple[object, ...]:
            server, _ = federation()

            def rest() -> None:
                nonlocal server
                if stops:
                    snapshot.save(tmp_path / "s", server.state())
                    server, _ = federation()
                    server.restore(snapshot.load(tmp_path / "s", ServerState))

            for _ in range(3):
                server.open_round()
                for m in reversed(range(5)):
                    send(server, m, 1e15 if m == 3 else 0.1)
                    rest()
                server.close_round()
                rest()
            refusals = server.ledger.refusals
            return server.theta.tobytes(), refusals.counts, tuple(refusals.recent)

        assert play(stops=True) == play(stops=False)

    @pytest.mark.parametrize("wrong", [{"norm": "no"}, {"factor": 0.5}, {"factor": np.nan}])
    def test_wrong_rules(self, wrong: dict[str, Norm]) -> None:
        with pytest.raises(InputError, match="of ReplyRule must be"):
            ReplyRule(**wrong)  # type: ignore[arg-type]


class TestFinite:
    """Without the rule, too, no reply makes a model, or what a server remembers, infinite."""

    SPECS = ("lossless", "lfl", "lgm", "ltgm", "lean", "lfl:server_optimizer=momentum",
             "lb:server_optimizer=adam", "lean:predict=true")  # fmt: skip

    @pytest.mark.parametrize("value", [4e37, 1e30, 1e24, 1e20])
    @pytest.mark.parametrize("spec", SPECS)
    def test_repeated_replies(self, spec: str, value: float) -> None:
        server, devices = federation(spec, devices=2, rule=OFF)
        refused = 0
        for _ in range(12):
            server.open_round()
            for device in devices.values():
                device.receive(server.frames_for(device.number, device.held))
            refused += send(server, 0, value) == "huge"
            send(server, 1, value)
            server.close_round()
            state = server.state()
            vectors = (state.theta, state.estimate, state.moments.first, state.moments.second)
            assert all(np.isfinite(vector).all() for vector in vectors)
        assert refused == (12 if value > LARGEST else 0)

    def test_a_round_that_would_overflow_is_refused_as_a_whole(self) -> None:
        server, devices = federation("lb:server_optimizer=adam", devices=3, rule=OFF)
        run_round(server, devices, local)
        theta = server.theta.tobytes()
        server.open_round()
        for m in range(2):
            devices[m].receive(server.frames_for(m, devices[m].held))
        wanted = local(0, devices[0].estimate) - devices[0].estimate + devices[0].memory
        server.accept(0, devices[0].reply(local(0, devices[0].estimate)))
        assert send(server, 2, 1e24) == ""
        server.close_round()
        assert server.theta.tobytes() == theta
        assert server.ledger.refusals.counts == {"overflow": 2}
        assert server.ledger.total("up", round=1).frames == 0
        server.open_round()
        devices[0].receive(server.frames_for(0, devices[0].held))
        assert np.allclose(devices[0].memory, wanted, atol=1e-6)  # its update is not lost
        server.accept(0, devices[0].reply(local(0, devices[0].estimate)))
        server.close_round()
        assert server.theta.tobytes() != theta

    def test_waiting_replies_are_no_longer_than_raw_floats(self) -> None:
        server, _ = federation(devices=40)
        server.open_round()
        long = np.random.default_rng(0).bytes(26_000_000)
        for m in range(1, 40):
            with pytest.raises(Refused, match="oversized: it has 26000000 bytes, and raw floats"):
                server.accept(m, long)
        assert not server.state().waiting


class TestBinding:
    def test_the_reply_of_another_device(self) -> None:
        server, devices = federation()
        server.open_round()
        devices[3].receive(server.frames_for(3))
        reply = devices[3].reply(local(3, devices[3].estimate))
        with pytest.raises(Refused, match="foreign: it is device 3's"):
            server.accept(4, reply)
        server.accept(3, reply)

    @pytest.mark.parametrize("other", [{"seed": 1}, {"training": "another"}])
    def test_the_reply_of_another_training(self, other: dict[str, str]) -> None:
        server, _ = federation()
        server.open_round()
        device = Device(3, server.scheme, **other)  # type: ignore[arg-type]
        device.receive(server.frames_for(3))
        with pytest.raises(Refused, match=r"diverged: .* another training's"):
            server.accept(3, device.reply(local(3, device.estimate)))

    def test_the_same_name_on_both_sides(self) -> None:
        chosen = scheme("lfl")
        server = AdapterServer(laplace(D), chosen, samples={3: 1}, training="mine")
        device = Device(3, chosen, training="mine")
        run_round(server, {3: device}, local)
        assert server.ledger.total("up").frames == 1

    def test_a_reply_that_names_no_device(self) -> None:
        server, _ = federation()
        server.open_round()
        meta = server.reply_meta(1)
        old = pack_raw(laplace(D), type(meta)(kind=meta.kind, digest=server.held.digest))
        with pytest.raises(Refused, match="foreign: it names no device"):
            server.accept(1, old)


class TestRefusals:
    def test_counted_by_reason_and_bounded(self) -> None:
        server, _ = federation()
        server.open_round()
        for _ in range(500):
            with pytest.raises(Refused):
                server.accept(1, b"junk")
            with pytest.raises(Refused):
                server.accept(77, b"")
        refusals = server.ledger.refusals
        assert refusals.counts == {"damaged": 500, "unknown": 500}
        assert len(refusals.recent) == 100
        other, _ = federation()
        other.restore(server.state())
        assert (other.ledger.refusals.counts, other.ledger.refusals.recent) == (
            refusals.counts,
            refusals.recent,
        )

    def test_details_are_cut(self) -> None:
        server, _ = federation()
        server.ledger.refusals.note(0, 1, "foreign", "x" * 10**6)
        assert len(server.ledger.refusals.recent[0].detail) < 400


class TestWeights:
    @given(st.dictionaries(st.integers(0, 50), st.integers(0, 2**53), min_size=1))
    def test_nobody_counts_for_more_than_ten_and_nobody_is_made_heavier(
        self, weights: dict[int, int]
    ) -> None:
        capped = capped_weights(weights)
        said = sorted(weight for weight in weights.values() if weight)
        if not said:
            assert capped == dict.fromkeys(weights, 1)
            return
        assert list(capped) == [m for m, weight in weights.items() if weight]
        assert all(1 <= capped[m] <= weights[m] for m in capped)
        assert max(capped.values()) <= 10 * said[(len(said) - 1) // 2]

    def test_equal_weights_stay(self) -> None:
        assert capped_weights({3: 7, 1: 7}) == {3: 7, 1: 7}
        assert capped_weights({}) == {}

    @pytest.mark.parametrize("wrong", [-1, 1.5, True])
    def test_wrong_weights(self, wrong: int) -> None:
        with pytest.raises(InputError, match="weight of device 4 must be an int >= 0"):
            capped_weights({4: wrong})
        with pytest.raises(InputError, match="limit of capped_weights"):
            capped_weights({4: 1}, limit=0)


def test_the_window_is_whole_rounds_and_bounded() -> None:
    norms = Norms()
    for t in range(200):
        norms.now = {m: float(t + 1) for m in range(5)}
        norms.next_round()
    assert sum(map(len, norms.recent)) == 35
    assert norms.reference == 197.0
    norms.now = dict.fromkeys(range(1000), 1.0)
    norms.next_round()
    assert len(norms.recent) == 1


def test_medians_and_limits() -> None:
    assert usual([1.0, 1e30]) == 1e30
    assert usual([1.0, 1.0, 1e30]) == 1.0
    assert is_within(np.zeros(0, np.float32))
    assert not is_within(f32([0, -np.inf]))
    assert not is_within(f32([np.nan, 0]))
