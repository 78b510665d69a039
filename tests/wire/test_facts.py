"""What a frame costs, and what the paper would have counted."""

import numpy as np
import pytest
from tests.helpers import laplace

from lossyfl import Stochastic, encode, inspect, quantizer, stream
from lossyfl.errors import FrameError
from lossyfl.types import paper_bits
from lossyfl.wire.facts import PAPER_FLOAT_BITS, facts
from lossyfl.wire.frame import pack_raw
from lossyfl.wire.header import FrameMeta

X = laplace(5000)


def test_of_a_quantized_vector() -> None:
    frame = encode(X, Stochastic(levels=3), rng=stream(0))
    found, seen = facts(frame), inspect(frame)
    assert (found.nbytes, found.entries) == (len(frame), 5000)
    assert found.paper_bits == paper_bits(5000, 1, 3)
    # Counts travel with seven significant bits; the entropy moves by far less than they do.
    assert found.entropy_bits == pytest.approx(seen.entropy_bits, rel=1e-3)


def test_of_exact_floats() -> None:
    found = facts(pack_raw(X, FrameMeta()))
    assert found.paper_bits == PAPER_FLOAT_BITS * 5000
    assert found.entropy_bits == 32 * 5000


def test_a_rotated_vector_is_counted_with_its_padding() -> None:
    frame = encode(X, quantizer("rotated+stochastic:levels=3"), rng=stream(0))
    assert facts(frame).entries == 5000
    assert facts(frame).paper_bits == paper_bits(8192, 1, 3)


def test_equal_entries_have_no_entropy() -> None:
    frame = encode(np.ones(5000, np.float32), Stochastic(levels=3), rng=stream(0))
    assert facts(frame).entropy_bits == 0


def test_a_damaged_frame_has_none_unless_it_is_our_own() -> None:
    frame = bytearray(encode(X, Stochastic(levels=3), rng=stream(0)))
    frame[-1] ^= 1  # of the checksum
    with pytest.raises(FrameError):
        facts(bytes(frame))
    assert facts(bytes(frame), trusted=True).nbytes == len(frame)
