"""Side information as numbers."""

import pytest

from lossyfl import FrameError, InputError
from lossyfl.wire.numbers import Reader, Writer


def data() -> bytes:
    writer = Writer()
    writer.add(3, [5, -7, 0])
    writer.add(1, [2**39])
    return writer.data()


def test_numbers_are_read_family_by_family() -> None:
    reader = Reader(memoryview(data()), offset=0)
    assert reader.take(3, 3).tolist() == [5, -7, 0]
    assert reader.take(1, 1).tolist() == [2**39]
    reader.finish()


def test_what_is_left_or_missing_is_refused() -> None:
    reader = Reader(memoryview(data()), offset=9)
    reader.take(3, 3)
    with pytest.raises(
        FrameError, match="byte 9: expected side information that ends where it does"
    ):
        reader.finish()
    with pytest.raises(FrameError, match="byte 9: expected 500 numbers of side information"):
        Reader(memoryview(data()), offset=9).take(3, 500)
    for short in (b"", b"\0\0", b"\0\0\0"):
        with pytest.raises(FrameError, match="byte 9: expected the state of a coder"):
            Reader(memoryview(short), offset=9)


def test_numbers_beyond_all_limits_are_refused() -> None:
    writer = Writer()
    writer.add(0, [2**40])
    with pytest.raises(InputError, match="numbers below"):
        writer.data()
