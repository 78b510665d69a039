"""Models of every kind become a vector and come back."""

import json

import numpy as np
import pytest
from flwr.app import Array, ArrayRecord

from lossyfl.adapters.layout import (
    MOST_ARRAYS,
    exact,
    filled,
    flatten,
    layout_of,
    read_layout,
    unflatten,
)
from lossyfl.errors import InputError

# What NumPy makes of bfloat16: two bytes without a meaning.
BRAIN = Array(np.array([0x3F80, 0xC049], dtype=np.uint16).view("V2"))
RECORD = ArrayRecord(
    {
        "w": Array(np.arange(6, dtype=np.float32).reshape(2, 3)),
        "half": Array(np.array([0.5, -2.0], dtype=np.float16)),
        "brain": Array(dtype="bfloat16", shape=(2,), stype=BRAIN.stype, data=BRAIN.data),
        "double": Array(np.array([[0.25]], dtype=np.float64)),
        "count": Array(np.array(7)),
        "mask": Array(np.array([True, False])),
        "empty": Array(np.zeros((0, 3), np.float32)),
    }
)


def test_there_and_back() -> None:
    layout = layout_of(RECORD)
    vector = flatten(RECORD, layout, of="it")
    assert vector.tolist() == [0, 1, 2, 3, 4, 5, 0.5, -2, 1, -3.140625, 0.25]
    assert layout.tensors == (6, 2, 2, 1)
    others = exact(RECORD, layout)
    assert set(others) == {"count", "mask"}
    back = unflatten(vector, others, read_layout(layout.text()))
    assert list(back) == list(RECORD)
    for name, array in RECORD.items():
        assert (back[name].dtype, tuple(back[name].shape)) == (array.dtype, tuple(array.shape))
        assert back[name].data == array.data


def test_left_out_arrays_are_as_they_were() -> None:
    trained = ArrayRecord({"w": Array(np.ones((2, 3), np.float32))})
    whole = filled(trained, RECORD, of="it")
    assert whole["w"].numpy().sum() == 6
    assert whole["count"].numpy() == 7
    with pytest.raises(InputError, match="one more, other"):
        filled(ArrayRecord({"other": Array(np.ones(1))}), RECORD, of="it")


@pytest.mark.parametrize("array", [np.zeros((3, 2), np.float32), np.zeros((2, 3))])
def test_another_shape_or_dtype(array: np.ndarray) -> None:
    changed = ArrayRecord({**RECORD, "w": Array(array)})
    with pytest.raises(InputError, match=r"array w of it must be float32 of shape \(2, 3\)"):
        flatten(changed, layout_of(RECORD), of="it")


def test_more_arrays_than_a_message_may_name() -> None:
    empty = Array(np.zeros(0, np.float32))
    names = map(str, range(MOST_ARRAYS))
    record = ArrayRecord({**RECORD, **dict.fromkeys(names, empty)})
    with pytest.raises(InputError, match=f"at most {MOST_ARRAYS} arrays"):
        layout_of(record)


def test_no_floats() -> None:
    with pytest.raises(InputError, match="some with floats"):
        layout_of(ArrayRecord({"count": Array(np.array(7))}))


@pytest.mark.parametrize(
    "text",
    [
        '[["w", "float32"]]',
        "[" * 100_000,
        '{"w": 1}',
        "null",
        '[["w", "float32", [1e400]]]',
        '[["w", "float32", [-1]]]',
        '[["w", "float32", [true]]]',
        '[["w", "float32", [1.0]]]',
        '[["w", "float32", [1099511627776, 1099511627776]]]',
        '[["w", "float32", [1]], ["w", "float32", [1]]]',
        '[["w", "f4,(99999,99999)f4", [1]]]',
        '[[7, "float32", [1]]]',
        '[["w", "float32", [4]], ["z", "float32", [1099511627776, 1099511627776, 0]]]',
        '[["w", "float32", [4]], ["z", "int64", [0, 2097152, 2097152]]]',
        f'[["w", "float32", {[1] * 65}]]',
        json.dumps([[str(number), "float32", [0]] for number in range(MOST_ARRAYS + 1)]),
        f'[["w", "float32", [{"9" * 5000}]]]',
        7,
    ],
)
def test_a_damaged_layout(text: object) -> None:
    with pytest.raises(InputError, match="layout of a message"):
        read_layout(text)
