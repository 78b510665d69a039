"""What quantizing leaves out is sent later, and what never arrived, too."""

from dataclasses import replace

import numpy as np
from tests.helpers import laplace

from lossyfl import FrameMeta, Kind, Stochastic, decode, stream
from lossyfl.compressors import Schedule, SendContext
from lossyfl.compressors.bounded import clipped
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
        assert sent.source().tobytes() == whole.tobytes()
        assert state.memory.tobytes() == memory.tobytes()


def test_the_source_is_within_the_bound() -> None:
    x, state = laplace(300), LINK.init(laplace(300))
    for t in range(3):
        bounded = replace(context(t), bound=1.0)
        sent = LINK.send(x, state, bounded)
        assert sent.lost is sent.state.memory
        assert sent.source().tobytes() == clipped(x + state.memory, 1.0).tobytes()
        assert np.array_equal(sent.state.memory, sent.source() - decode(sent.frame))
        state = sent.state


def test_the_source_is_made_when_it_is_asked_for() -> None:
    """Devices that measure nothing do not pay for it."""
    x, state = laplace(300), LINK.init(laplace(300))
    sent = LINK.send(x, state, context(0))
    assert sent.source() is not sent.source()


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
