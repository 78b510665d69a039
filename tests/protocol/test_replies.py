"""Whether a reply is what the server asked for."""

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import FrameMeta, Kind, Refused, Stochastic, encode, stream
from lossyfl.protocol.replies import LARGEST_SUM, MOST_COMPARED, Expected, open_reply
from lossyfl.protocol.rules import LARGEST
from lossyfl.types import Vector
from lossyfl.wire.frame import pack_raw

D = 500
WANTED = Expected(entries=D, round=2, digest=7, training=9, weight=100)


def meta(device: int = 1, round: int = 2, expected: Expected = WANTED) -> FrameMeta:
    return FrameMeta(kind=Kind.REPLY, round=round, digest=expected.digest_for(device))


def reason(reply: bytes, others: tuple[int, ...] = (1, 2, 3)) -> str:
    with pytest.raises(Refused) as refused:
        open_reply(1, reply, WANTED, others=others, threads=1)
    assert refused.value.device == 1
    return f"{refused.value.reason}: {refused.value.detail}"


@pytest.mark.parametrize("threads", [1, 3])
def test_the_reply_that_was_asked_for(threads: int) -> None:
    x = laplace(D)
    reply = encode(x, Stochastic(levels=300), rng=stream(0), meta=meta())
    addend = open_reply(1, reply, WANTED, others=(), threads=threads)
    total = np.zeros(D, np.float32)
    addend.terms.add_to(total, 1)
    assert np.allclose(total, x, atol=0.1)


def test_of_another_kind_or_length() -> None:
    digest = WANTED.digest_for(1)
    update = FrameMeta(kind=Kind.UPDATE, round=2, digest=digest)
    assert reason(pack_raw(laplace(D), update)).startswith("foreign: a update of 500 entries")
    assert reason(pack_raw(laplace(D - 1), meta())).startswith("foreign: a reply of 499 entries")


def test_of_another_round() -> None:
    assert reason(pack_raw(laplace(D), meta(round=1))) == "late: it is for round 1, not 2"
    assert reason(pack_raw(laplace(D), meta(round=3))) == "ahead: it is for round 3, not 2"


def test_of_another_device_training_or_estimate() -> None:
    theirs = pack_raw(laplace(D), meta(device=3))
    assert reason(theirs) == "foreign: it is device 3's"
    assert reason(theirs, others=(1, 2)).startswith("diverged")  # nobody's that is known
    far = (*range(1000, 1000 + MOST_COMPARED), 3)
    assert reason(theirs, others=far).startswith("diverged")  # not all are tried
    other = Expected(entries=D, round=2, digest=8, training=9)
    assert reason(pack_raw(laplace(D), meta(expected=other))).startswith("diverged")
    plain = FrameMeta(kind=Kind.REPLY, round=2, digest=WANTED.digest)
    assert reason(pack_raw(laplace(D), plain)).startswith("foreign: it names no device")


def test_longer_than_raw_floats_or_not_whole() -> None:
    reply = pack_raw(laplace(D), meta())
    assert reason(reply + bytes(2)).startswith("oversized: it has 2038 bytes")
    assert reason(reply[:-1]).startswith("damaged")


def alone(value: float) -> Vector:
    x = np.zeros(D, np.float32)
    x[3] = value
    return x


@pytest.mark.parametrize("value", [2 * LARGEST, -2 * LARGEST, LARGEST_SUM / 50])
def test_entries_beyond_what_a_sum_can_hold(value: float) -> None:
    assert reason(pack_raw(alone(value), meta())).startswith("huge")
