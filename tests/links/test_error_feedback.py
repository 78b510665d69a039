"""What quantizing leaves out is sent later, and what never arrived, too."""

import numpy as np
from tests.helpers import laplace

from lossyfl import FrameMeta, Kind, Stochastic, decode, stream
from lossyfl.compressors import Schedule, SendContext
from lossyfl.links import ErrorFeedback

LINK = ErrorFeedback(compressor=Schedule.constant(Stochastic(levels=2)))


def context(t: int) -> SendContext:
    return SendContext(meta=FrameMeta(kind=Kind.REPLY, round=t), rng=stream(0, round=t))


def test_it_is_its_recursion_to_the_bit() -> None:
    state, memory = LINK.init(laplace(300)), np.zeros(300, np.float32)
    for t in range(10):
        x = laplace(300, seed=t)
        sent = LINK.send(x, state, context(t))
        whole = x + memory
        memory = whole - decode(sent.frame)
        state = sent.state
        assert sent.source.tobytes() == whole.tobytes()
        assert state.memory.tobytes() == memory.tobytes()


def test_all_that_was_given_is_heard_or_in_memory_whatever_was_lost() -> None:
    state = LINK.init(laplace(300))
    given = heard = np.zeros(300)
    for t in range(30):
        x = laplace(300, seed=t)
        sent = LINK.send(x, state, context(t))
        given = given + x
        if t % 3:
            heard, state = heard + decode(sent.frame), sent.state
        else:
            state = LINK.undo(sent.frame, sent.state)
    assert np.allclose(given, heard + state.memory, atol=1e-3)
