"""A vector as it is."""

import numpy as np
import pytest
from tests.helpers import f32, laplace

from lossyfl import FrameMeta, decode, stream
from lossyfl.compressors import SendContext
from lossyfl.compressors.bounded import norm
from lossyfl.errors import NotFinite
from lossyfl.links import Lossless

LINK = Lossless()


def test_every_bit_arrives_and_nothing_is_lost() -> None:
    x = laplace(300)
    x[0] = -0.0
    sent = LINK.send(x, LINK.init(x), SendContext(meta=FrameMeta(), rng=stream(0)))
    assert decode(sent.frame).tobytes() == x.tobytes()
    assert sent.source().tobytes() == x.tobytes()
    assert sent.lost is None


def test_within_a_bound_it_is_clipped() -> None:
    x = laplace(300)
    sent = LINK.send(x, LINK.init(x), SendContext(meta=FrameMeta(), rng=stream(0), bound=1.0))
    assert 0.999 < norm(decode(sent.frame)) <= 1
    assert np.array_equal(decode(sent.frame), sent.source())


def test_infinity_is_refused() -> None:
    x = f32([1, np.inf])
    with pytest.raises(NotFinite):
        LINK.send(x, LINK.init(x), SendContext(meta=FrameMeta(), rng=stream(0)))
