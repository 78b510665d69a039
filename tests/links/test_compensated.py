"""A broadcast of changes that carries the error of earlier ones."""

import numpy as np
from tests.helpers import laplace

from lossyfl import FrameMeta, Kind, Stochastic, decode, stream
from lossyfl.compressors import Schedule, SendContext
from lossyfl.links import Compensated

LINK = Compensated(compressor=Schedule.constant(Stochastic(levels=2)))


def test_it_is_its_recursion_to_the_bit() -> None:
    state = LINK.init(laplace(300))
    estimate, memory = laplace(300), np.zeros(300, np.float32)
    for t in range(10):
        x = laplace(300, seed=t)
        meta = FrameMeta(kind=Kind.UPDATE, round=t)
        sent = LINK.send(x, state, SendContext(meta=meta, rng=stream(0, round=t)))
        change = x - estimate + memory
        carried = decode(sent.frame)
        assert sent.source().tobytes() == change.tobytes()
        estimate, memory = estimate + carried, change - carried
        state = sent.state
        assert state.estimate.tobytes() == estimate.tobytes()
        assert state.memory.tobytes() == memory.tobytes()


def test_what_never_arrived_is_not_sent_in_another_frame() -> None:
    """Whoever missed it gets that very frame, before any later one."""
    state = LINK.init(laplace(300))
    sent = LINK.send(laplace(300, seed=1), state, SendContext(meta=FrameMeta(), rng=stream(0)))
    assert LINK.undo(sent.frame, sent.state) is sent.state
