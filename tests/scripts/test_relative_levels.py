"""Levels told as differences from earlier ones: less where both are of the same rows and columns."""

import numpy as np
from scripts.contexts import ClassFrame, levels_nbytes, priced_frame
from scripts.relative_levels import nearer

from lossyfl.quantizers import quantizer
from lossyfl.streams import stream
from lossyfl.wire.codec import encode

ROWS, COLUMNS = 60, 90


def sent(scales: int, draw: int) -> ClassFrame:
    """A frame of a matrix whose rows and columns are busy or idle."""
    rng = np.random.default_rng(scales)
    busy = np.exp2(rng.uniform(-3, 3, (ROWS, 1)) + rng.uniform(-2, 2, (1, COLUMNS)))
    x = (np.random.default_rng(draw).laplace(size=busy.shape) * busy).astype(np.float32).ravel()
    chosen = quantizer("deadzone:target=0.5bit")
    frame = ClassFrame.of(encode(x, chosen, rng=stream(0), tensors=[(ROWS, COLUMNS)]))
    assert frame is not None
    return frame


def total(frame: ClassFrame, before: ClassFrame | None = None) -> float:
    """Bytes of symbols and levels."""
    known = None if before is None else before.levels
    return priced_frame(frame) / 8 + levels_nbytes(frame.levels, known)


def test_levels_of_the_same_rows_and_columns_help() -> None:
    frame, before = sent(1, 2), sent(1, 3)
    assert total(nearer(frame, before.levels), before) < 0.97 * total(frame)


def test_levels_of_others_do_not_and_symbols_stay_the_same() -> None:
    frame, before = sent(1, 2), sent(4, 3)
    found = nearer(frame, before.levels)
    assert total(found, before) > 0.99 * total(frame)
    assert total(found, before) <= total(frame, before)
    assert np.array_equal(found.plain, frame.plain)
