"""What contexts would save of a frame: nearly all where they tell it, nothing where they are chance."""

import numpy as np
import pytest
from scripts.contexts import SIZES, ClassFrame, levels_nbytes, priced, sizes_of

from lossyfl.quantizers import quantizer
from lossyfl.streams import stream
from lossyfl.types import Vector
from lossyfl.wire.codec import decode, encode

ROWS, COLUMNS = 60, 200


@pytest.fixture(scope="module")
def sent() -> tuple[ClassFrame, Vector]:
    """A frame of a matrix whose rows and columns are busy or idle, and what it decodes to."""
    rng = np.random.default_rng(5)
    scales = np.exp2(rng.uniform(-3, 3, (ROWS, 1)) + rng.uniform(-1, 1, (1, COLUMNS)))
    x = (rng.laplace(size=(ROWS, COLUMNS)) * scales).astype(np.float32).ravel()
    chosen = quantizer("deadzone:target=0.5bit")
    frame = encode(x, chosen, rng=stream(0), tensors=[(ROWS, COLUMNS)])
    read = ClassFrame.of(frame)
    assert read is not None
    return read, decode(frame)


def test_a_frame_without_shapes_is_none() -> None:
    x = np.random.default_rng(0).laplace(size=1000).astype(np.float32)
    assert ClassFrame.of(encode(x, quantizer("deadzone"), rng=stream(0))) is None


def test_the_vector_itself_saves_most_of_what_symbols_take(
    sent: tuple[ClassFrame, Vector],
) -> None:
    frame, decoded = sent
    saved = frame.saved(decoded)
    _, bits = priced(frame.symbols, frame.key, frame.alphabet, 93)
    assert saved["paid"] > 0.8 * bits / 8
    assert saved["paid"] <= bits / 8


def test_chance_saves_nothing_and_cannot_stand_for_levels(sent: tuple[ClassFrame, Vector]) -> None:
    frame, decoded = sent
    noise = np.random.default_rng(1).laplace(size=len(decoded)).astype(np.float32)
    saved = frame.saved(noise)
    assert 0 <= saved["paid"] < 0.005 * frame.nbytes
    assert saved["free"] >= saved["paid"]
    assert saved["alone"] < 0


def test_a_context_of_zeros_is_none(sent: tuple[ClassFrame, Vector]) -> None:
    frame, decoded = sent
    saved = frame.saved(np.zeros_like(decoded))
    assert saved["paid"] == pytest.approx(0, abs=1e-6)


def test_sizes_are_half_octaves_below_the_largest() -> None:
    known = np.array([0, 1, 1.4, 1.6, -2, 3, 4, 1e-9], np.float32)
    assert sizes_of(known).tolist() == [0, 10, 10, 11, 12, 13, 14, 1]
    assert sizes_of(known).max() == SIZES


def test_levels_that_are_known_take_next_to_nothing(sent: tuple[ClassFrame, Vector]) -> None:
    frame, _ = sent
    assert levels_nbytes(frame.levels, frame.levels) < 20 < levels_nbytes(frame.levels)
