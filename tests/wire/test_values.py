"""What symbols stand for: tables longer than their blocks, and vectors that overflow on the way back."""

import struct

import numpy as np
import pytest
from tests.helpers import forge, laplace

from lossyfl import FrameError, Rotated, Stochastic, decode, encode, stream
from lossyfl.wire.vectors import block_bounds


def test_long_rows_for_short_blocks_take_no_time() -> None:
    """One row of 65,535 values for each entry would be 10^10 operations."""
    x = laplace(200_000)
    frame = encode(x, Stochastic(levels=32_767, scale=3), rng=stream(0))
    quantized = Stochastic(levels=32_767, scale=3)
    bounds = block_bounds(3, len(x), None)
    got = quantized.quantize(x, bounds, rng=stream(0))
    some = np.arange(0, len(x), 997)
    rows = [got.table.rows(i // 3, i // 3 + 1)[0, got.symbols[i]] for i in some.tolist()]
    assert np.array_equal(decode(frame)[some], np.array(rows))


def test_rotated_frames_that_overflow() -> None:
    frame = encode(laplace(1000), Rotated(inner=Stochastic(levels=2)), rng=stream(0))
    huge = struct.pack("<f", 3e38)
    with pytest.raises(FrameError, match="finite"):
        decode(forge(forge(frame, 44, huge), 40, struct.pack("<f", 2.9e38)))
