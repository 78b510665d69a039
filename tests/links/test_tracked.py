"""The change against what the receivers hold, applied by the sender without decoding."""

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import FrameError, FrameMeta, Kind, decode, quantizer, stream
from lossyfl.compressors import Schedule, SendContext
from lossyfl.links import Tracked
from lossyfl.wire.frame import pack_raw


def link(spec: str = "stochastic:levels=2") -> Tracked:
    return Tracked(compressor=Schedule.constant(quantizer(spec)))


def context(t: int) -> SendContext:
    return SendContext(meta=FrameMeta(kind=Kind.UPDATE, round=t), rng=stream(0, round=t))


@pytest.mark.parametrize(
    "spec",
    [
        "stochastic:levels=2",
        "stochastic:levels=3,scale=7",
        "deadzone",
        "dithered",
        "eden",
        "rotated+stochastic",
    ],
)
def test_both_ends_move_by_the_same_floats(spec: str) -> None:
    """One table or many, sparse, dithered or rotated: without decoding, and to the bit."""
    chosen = link(spec)
    state = receiver = chosen.init(laplace(777))
    for t in range(5):
        x = laplace(777, seed=t)
        sent = chosen.send(x, state, context(t))
        assert np.array_equal(sent.source(), x - state.estimate)
        assert sent.lost is not None
        assert np.array_equal(sent.lost, x - sent.state.estimate)
        wanted = state.estimate + decode(sent.frame)
        state = sent.state
        _, receiver = chosen.receive(sent.frame, receiver)
        assert state.estimate.tobytes() == receiver.estimate.tobytes() == wanted.tobytes()


def test_a_frame_longer_than_the_estimate_is_refused_before_it_is_decoded() -> None:
    tracked = link()
    frame = pack_raw(np.zeros(9, np.float32), FrameMeta(kind=Kind.UPDATE))
    with pytest.raises(FrameError, match="1 to 8 entries"):
        tracked.receive(frame, tracked.init(np.zeros(8, np.float32)))
