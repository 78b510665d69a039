"""One array as it travels: what NumPy saves, and nothing else."""

import io

import numpy as np
import pytest
from tests.adapters.small import MODEL

from lossyfl.adapters.arrays import NUMPY, Array, floats, is_whole, kind_of, to_array, whole_values
from lossyfl.adapters.layout import Slot
from lossyfl.errors import InputError


@pytest.mark.parametrize("name", MODEL)
def test_bytes_are_those_that_numpy_saves(name: str) -> None:
    file = io.BytesIO()
    np.save(file, MODEL[name].numpy())
    assert MODEL[name].data == file.getvalue()
    assert is_whole(MODEL[name])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_floats_there_and_back(dtype: str) -> None:
    x = np.array([1, -0.5, 3, 0, 2, 8], np.float32)
    made = to_array(x, Slot(name="", dtype=dtype, shape=(2, 3)))
    assert (made.dtype, made.shape, made.stype) == (dtype, (2, 3), NUMPY)
    assert floats(made).tolist() == x.tolist()
    assert whole_values(made).tolist() == x.reshape(2, 3).tolist()


def test_an_array_in_fortran_order_is_read_but_not_trusted() -> None:
    array = Array.of(np.asfortranarray(np.arange(6, dtype=np.float32).reshape(2, 3)))
    assert floats(array).tolist() == [0, 1, 2, 3, 4, 5]
    assert not is_whole(array)


@pytest.mark.parametrize(
    ("dtype", "stype", "data"),
    [
        ("float32", "pickle", MODEL["w"].data),
        ("float32", NUMPY, b"garbage"),
        ("float32", NUMPY, MODEL["w"].data[:20]),
        ("float32", NUMPY, MODEL["w"].data[:-1]),
        ("float32", NUMPY, MODEL["w"].data + b"\0"),
        ("float32", NUMPY, b"\x93NUMPY\x02" + MODEL["w"].data[7:]),
        ("float64", NUMPY, MODEL["w"].data),
        ("object", NUMPY, MODEL["w"].data),
        ("no dtype", NUMPY, MODEL["w"].data),
    ],
)
def test_bytes_that_are_no_array_are_not_whole(dtype: str, stype: str, data: bytes) -> None:
    assert not is_whole(Array(dtype, (2, 3), stype, data))


@pytest.mark.parametrize("stype", ["pickle", NUMPY])
def test_floats_of_what_is_no_array(stype: str) -> None:
    with pytest.raises(InputError, match="arrays of a model"):
        floats(Array("float32", (2, 3), stype, b"garbage" if stype == NUMPY else MODEL["w"].data))


def test_bfloat16_is_a_float() -> None:
    assert [kind_of(own.dtype) for own in MODEL.values()] == [*"ffffi", "b", "f"]
