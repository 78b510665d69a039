"""Frames with a bound: no quantizer, kept error or rounding makes them longer than they may be."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import laplace

from lossyfl import Device, FrameMeta, InputError, Kind, Server, decode, quantizer, scheme, stream
from lossyfl.compressors import Damped, Schedule, SendContext
from lossyfl.compressors.bounded import clipped, norm
from lossyfl.links import ErrorFeedback, Lossless
from lossyfl.quantizers import names
from lossyfl.types import Vector

ENTRIES = 3000


def context(t: int, bound: float) -> SendContext:
    meta = FrameMeta(kind=Kind.REPLY, round=t)
    return SendContext(meta=meta, rng=stream(1, round=t), tensors=[1000, 2000], bound=bound)


def decoded(frame: bytes) -> Vector:
    return decode(frame, max_entries=ENTRIES)


@pytest.mark.parametrize("name", names())
@pytest.mark.parametrize("damped", [False, True])
def test_no_frame_is_longer_than_its_bound(name: str, damped: bool) -> None:
    compressor = Schedule.constant(quantizer(name))
    link = ErrorFeedback(compressor=Damped(inner=compressor) if damped else compressor)
    state = link.init(np.zeros(ENTRIES, np.float32))
    for t, bound in enumerate([1.0, 100.0, 0.01, 1e-30, 3.0, 3.0]):
        x = laplace(ENTRIES, seed=t)
        whole = clipped(x + state.memory, bound)
        sent = link.send(x, state, context(t, bound))
        frame, state = sent.frame, sent.state
        assert norm(decoded(frame)) <= bound
        assert np.array_equal(state.memory, whole - decoded(frame))  # and the rest of it is kept


@pytest.mark.parametrize("name", names())
def test_a_bound_far_away_changes_no_byte(name: str) -> None:
    link = ErrorFeedback(compressor=Schedule.constant(quantizer(name)))
    x, state = laplace(ENTRIES, seed=1), link.init(np.zeros(ENTRIES, np.float32))
    far, near = (link.send(x, state, context(0, bound)).frame for bound in (1e9, math.inf))
    assert far == near


def test_exact_updates_are_clipped() -> None:
    x = laplace(ENTRIES, seed=1)
    frame = Lossless().send(x, Lossless().init(x), context(0, 1.0)).frame
    assert norm(decoded(frame)) <= 1
    assert np.allclose(decoded(frame), x / norm(x), rtol=1e-5)


@given(
    st.lists(st.floats(-(2.0**60), 2.0**60, width=32), min_size=1, max_size=50),
    st.floats(2.0**-20, 2.0**60),
)
def test_clipped_is_within_and_along(numbers: list[float], bound: float) -> None:
    x = np.array(numbers, np.float32)
    cut = clipped(x, bound)
    assert norm(cut) <= bound
    if norm(x) <= bound:
        assert cut is x
    else:
        assert math.isclose(norm(cut), bound, rel_tol=1e-4)
        assert np.dot(cut.astype(float), x.astype(float)) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Careless(ErrorFeedback):
    """A link of somebody else's that has not heard of bounds."""

    def send(self, x, state, context):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
        return ErrorFeedback.send(self, x, state, replace(context, bound=math.inf))


def test_a_device_does_not_send_what_a_link_made_too_long() -> None:
    careless = replace(
        scheme("lb"), uplink=Careless(compressor=Schedule.constant(quantizer("stochastic")))
    )
    server = Server(np.zeros(ENTRIES, np.float32), careless, samples={0: 1})
    device = Device(0, careless)
    server.open_round()
    theta = device.receive(server.frames_for(0)) + laplace(ENTRIES, seed=1)
    with pytest.raises(InputError, match="reply of device 0 must be within the clipping norm of 1"):
        device.reply(theta, bound=1.0)
    assert not device.memory.any()  # and nothing of it is kept
    assert norm(decoded(device.reply(theta))) > 1
