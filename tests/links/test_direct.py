"""A vector quantized by itself; what was quantized is told, also where it was rotated before."""

import numpy as np
from tests.helpers import laplace

from lossyfl import FrameMeta, Rotated, Stochastic, decode, stream
from lossyfl.compressors import Damped, Schedule, SendContext
from lossyfl.links import Direct
from lossyfl.types import Quantizer
from lossyfl.wire.rotation import rotate

CONTEXT = SendContext(meta=FrameMeta(), rng=stream(5))


def link(quantizer: Quantizer) -> Direct:
    return Direct(compressor=Schedule.constant(quantizer))


def test_the_source_is_the_vector() -> None:
    chosen, x = link(Stochastic(levels=3)), laplace(300)
    sent = chosen.send(x, chosen.init(x), CONTEXT)
    assert sent.source() is x
    assert sent.lost is not None
    assert np.array_equal(sent.lost, x - decode(sent.frame))
    assert sent.heard is not None
    assert sent.heard.tobytes() == decode(sent.frame).tobytes()


def test_the_source_of_a_rotated_quantizer_is_the_rotated_vector() -> None:
    x = laplace(300)
    rotated = link(Rotated(inner=Stochastic(levels=20)))
    damped = Direct(compressor=Damped(inner=rotated.compressor))
    for chosen in (rotated, damped):
        sent = chosen.send(x, chosen.init(x), CONTEXT)
        assert sent.source().tobytes() == rotate(x, CONTEXT.rng.a).tobytes()
        assert len(sent.source()) == 512
