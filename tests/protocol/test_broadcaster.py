"""The server's end of the downlink: one frame per round, made once, checked by nobody who made it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import xxhash
from tests.helpers import laplace

from lossyfl import Delivery, Device, EstimateVersion, Server, scheme
from lossyfl.links import Tracked
from lossyfl.protocol.broadcaster import Broadcaster
from lossyfl.protocol.digests import NOTHING
from lossyfl.types import Vector
from lossyfl.wire import codec, header
from lossyfl.wire import rotation as rotations

D = 2000


def broadcaster(spec: str, log_bytes: int | None = None) -> Broadcaster:
    chosen = scheme(spec)
    made = Broadcaster(chosen.downlink, seed=3, tensors=None, threads=1, log_bytes=log_bytes)
    made.start(laplace(D), chosen.first)
    made.open_round()
    return made


def play(each: Broadcaster, rounds: int) -> None:
    for t in range(rounds):
        each.send(laplace(D, seed=t + 10))
        each.open_round()


@contextmanager
def checksums(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The lengths of all that frames' checksums are computed over."""
    found: list[int] = []

    class Counted:
        def __init__(self) -> None:
            self._digest = xxhash.xxh3_64()
            found.append(0)

        def update(self, data: Any) -> None:  # noqa: ANN401
            found[-1] += memoryview(data).nbytes
            self._digest.update(data)

        def intdigest(self) -> int:
            return self._digest.intdigest()

    class Module:
        xxh3_64 = Counted

        @staticmethod
        def xxh3_64_intdigest(data: Any) -> int:  # noqa: ANN401
            found.append(memoryview(data).nbytes)
            return xxhash.xxh3_64_intdigest(data)

    with monkeypatch.context() as patched:
        patched.setattr(header, "xxhash", Module)
        yield found


class TestWorkIsDoneOnce:
    @pytest.mark.parametrize(
        ("spec", "times"),
        [("lfl", 1), ("lfl:compensate_server=true", 1), ("lean", 1), ("ltgm", 2), ("lgm", 3)],
    )
    def test_the_checksum_of_a_broadcast(
        self, spec: str, times: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A whole model is named by its digest afterwards; with error feedback its sender decodes it."""
        server = Server(laplace(D), scheme(spec), samples=dict.fromkeys(range(5), 1))
        server.open_round()
        server.close_round()
        with checksums(monkeypatch) as found:
            server.open_round()
            for m in server.members:
                server.frames_for(m, EstimateVersion(round=0, digest=server.held.digest ^ 1))
                server.frames_for(m)
        updates = [size for size in found if size == len(server.broadcast) - 4]
        assert len(updates) == times

    def test_an_incremental_broadcast_is_not_decoded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        each = broadcaster("lfl")

        def decoded(*_: object, **__: object) -> Vector:
            raise AssertionError("its own frame")

        monkeypatch.setattr(codec.frames, "reconstruct", decoded)
        play(each, 3)
        assert each.round == 3

    def test_a_model_is_rotated_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        server = Server(laplace(D), scheme("ltgm"), samples={0: 1})
        server.open_round()
        server.close_round()
        turned = list[int]()
        rotate = rotations.rotate

        def counted(x: Vector, seed: int | None) -> Vector:
            turned.append(len(x))
            return rotate(x, seed)

        monkeypatch.setattr("lossyfl.quantizers.rotated.rotate", counted)
        server.open_round()
        assert turned == [D]
        assert 0 < server.ledger.eps[1] < 1

    def test_a_change_is_subtracted_by_the_link_alone(self) -> None:
        """What the ledger says of a broadcast is of the very vector that was quantized."""
        seen = list[Vector]()

        class Seen(Tracked):
            def send(self, x: Vector, state: Any, context: Any) -> Any:  # noqa: ANN401
                sent = super().send(x, state, context)
                seen.append(sent.source())
                return sent

        each = scheme("lfl").downlink
        assert isinstance(each, Tracked)
        link = Seen(compressor=each.compressor)
        made = Broadcaster(link, seed=3, tensors=None, threads=1, log_bytes=None)
        made.start(laplace(D), None)
        made.open_round()
        assert made.send(laplace(D, seed=1)).source() is seen[0]


class TestFrames:
    def test_in_sync_nothing_is_needed(self) -> None:
        each = broadcaster("lfl")
        play(each, 2)
        assert each.frames_for(each.held) == ((), "update")

    def test_one_behind_gets_the_newest_and_later_ones_what_they_missed(self) -> None:
        each = broadcaster("lfl", log_bytes=10**6)
        start = each.held
        play(each, 1)
        one = each.held
        play(each, 1)
        assert each.frames_for(one) == ((each.newest,), "update")
        missed, kind = each.frames_for(start)
        assert (len(missed), kind) == (2, "catch-up")

    @pytest.mark.parametrize("spec", ["lfl", "lean:predict=true", "lgm", "lossless"])
    def test_a_new_device_gets_what_it_needs(self, spec: str) -> None:
        each = broadcaster(spec)
        play(each, 3)
        found, kind = each.frames_for(NOTHING)
        assert kind == "initial"
        device = Device(0, scheme(spec), seed=3)
        device.receive(Delivery(frames=found, accepted=-1))
        assert device.held == each.held
        assert device.estimate.tobytes() == each.estimate.tobytes()

    def test_where_whole_models_are_sent_the_newest_is_all(self) -> None:
        each = broadcaster("ltgm:q1=5")
        start = each.held
        play(each, 1)
        one = each.held
        play(each, 1)
        assert each.frames_for(one) == ((each.newest,), "update")
        assert each.frames_for(start) == ((each.newest,), "catch-up")
        assert each.log.recent == ()

    def test_after_the_exact_model_all_begin_anew(self) -> None:
        each = broadcaster("lfl")
        before = each.held
        each.send_model(laplace(D, seed=7))
        each.open_round()
        found, kind = each.frames_for(before)
        assert (len(found), kind) == (1, "initial")
        assert each.estimate.tobytes() == laplace(D, seed=7).tobytes()


@pytest.mark.parametrize("spec", ["lfl", "lgm", "lossless", "lean:predict=true"])
def test_saved_and_restored_it_sends_the_same_bytes(spec: str) -> None:
    one, other = broadcaster(spec), broadcaster(spec)
    play(one, 3)
    state = other.downlink_state(one.estimate, one.saved())
    assert state is not None
    other.restore(state, one.round, one.newest, one.log.recent)
    for each in (one, other):
        each.send(laplace(D, seed=77))
    assert one.newest == other.newest


def test_the_vectors_of_another_link_are_not_read() -> None:
    each = broadcaster("lean:predict=true")
    assert each.downlink_state(laplace(D), {}) is None
    assert each.downlink_state(laplace(D), {"trend": np.zeros(D - 1, np.float32)}) is None
    assert broadcaster("lfl").downlink_state(laplace(D), {"trend": laplace(D)}) is None
