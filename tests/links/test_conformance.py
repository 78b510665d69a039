"""What every link must do, in both directions."""

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import FrameMeta, Kind, Rotated, Stochastic, stream
from lossyfl.compressors import Schedule, SendContext
from lossyfl.links import Direct, ErrorFeedback, Link, LinkState, Lossless, Tracked

PLAIN = Schedule.constant(Stochastic(levels=3))
LINKS: dict[str, Link] = {
    "lossless": Lossless(),
    "direct": Direct(compressor=PLAIN),
    "rotated": Direct(compressor=Schedule.constant(Rotated(inner=Stochastic(levels=20)))),
    "error feedback": ErrorFeedback(compressor=PLAIN),
    "tracked": Tracked(compressor=PLAIN),
    "compensated": Tracked(compressor=PLAIN, compensate=True),
    "predicting": Tracked(compressor=PLAIN, predict=True),
}
pytestmark = pytest.mark.parametrize("link", LINKS.values(), ids=LINKS.keys())


def context(t: int) -> SendContext:
    return SendContext(meta=FrameMeta(kind=Kind.UPDATE, round=t), rng=stream(1, round=t))


def arrays(state: LinkState) -> bytes:
    return b"|".join(each.tobytes() for each in (state.estimate, state.memory, state.trend))


def test_both_ends_agree_after_every_frame(link: Link) -> None:
    start = laplace(500)
    sender = receiver = link.init(start)
    for t in range(20):
        frame, sender = link.send(laplace(500, seed=t), sender, context(t))
        heard, receiver = link.receive(frame, receiver)
        assert np.isfinite(heard).all()
        assert receiver.estimate.tobytes() == sender.estimate.tobytes()
        assert receiver.trend.tobytes() == sender.trend.tobytes()


def test_state_goes_in_and_comes_out_unchanged(link: Link) -> None:
    state = link.init(laplace(500))
    before = arrays(state)
    frame, after = link.send(laplace(500, seed=2), state, context(0))
    again, same = link.send(laplace(500, seed=2), state, context(0))
    assert arrays(state) == before
    assert (frame, arrays(after)) == (again, arrays(same))


def test_address_is_the_frames(link: Link) -> None:
    from lossyfl.wire.header import read_header

    frame, _ = link.send(laplace(500), link.init(laplace(500)), context(9))
    assert read_header(frame).meta == context(9).meta


def test_zero_vector_goes_through(link: Link) -> None:
    zero = np.zeros(64, np.float32)
    frame, _ = link.send(zero, link.init(zero), context(0))
    heard, _ = link.receive(frame, link.init(zero))
    assert not heard.any()
