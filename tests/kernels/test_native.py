"""The loader: what is handed to the library, and what is refused."""

import numpy as np
import pytest
from tests.helpers import f32

from lossyfl.errors import InputError
from lossyfl.kernels import native
from lossyfl.kernels.adding import add
from lossyfl.kernels.magnitudes import look_up_bins
from lossyfl.kernels.values import look_up

LIBRARY_ONLY = pytest.mark.skipif(native.LIBRARY is None, reason="no native kernels here")


def test_the_address_is_numpys() -> None:
    for array in (np.zeros(3), np.arange(12)[3:7], np.frombuffer(b"abcdef", np.uint8)):
        assert native._address(array) == array.ctypes.data


@LIBRARY_ONLY
@pytest.mark.parametrize(
    "x",
    [
        np.zeros(8, np.float64),
        np.zeros(8, ">f4") if np.little_endian else np.zeros(8, "<f4"),
        np.zeros(16, np.float32)[::2],
        np.frombuffer(bytes(33), np.uint8)[1:].view(np.float32),
    ],
    ids=["type", "byte order", "stride", "alignment"],
)
def test_other_arrays_are_refused(x: np.ndarray) -> None:
    with pytest.raises(InputError, match="argument of add must be a contiguous"):
        add(x, 1, np.zeros(8, np.float32))


@LIBRARY_ONLY
def test_what_is_read_only_is_not_written() -> None:
    total = np.frombuffer(bytes(32), np.float32)
    with pytest.raises(InputError, match="that can be written"):
        add(np.zeros(8, np.float32), 1, total)


def test_a_symbol_type_chooses_the_kernel() -> None:
    for dtype in (np.uint8, np.uint16):
        out = np.empty(3, np.float32)
        bounds = np.array([0, 3])
        assert look_up(np.array([2, 0, 1], dtype), bounds, f32([1, 2, 3]), out) == 0
        assert out.tolist() == [3, 1, 2]


def test_the_reference_stays() -> None:
    assert native.reference(add) is not add or native.LIBRARY is None
    level = native.LIBRARY and native.LIBRARY.level
    assert len(native.natives(add)) == (0 if level is None else 1 + native.LEVELS.index(level))


@LIBRARY_ONLY
def test_symbols_of_two_types_are_refused() -> None:
    """One kernel takes them all; the other type would be read or written beyond its end."""
    x, factors, of = f32([1, 2]), np.ones(1), np.zeros(1 << 16, np.uint16)
    with pytest.raises(InputError, match="contiguous"):
        look_up_bins(x, 0, 2, np.array([0, 2]), factors, of, np.zeros(2, np.uint8))
