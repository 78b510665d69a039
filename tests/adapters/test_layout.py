"""What of a model is its vector, and texts that are no layout."""

import json

import numpy as np
import pytest
from tests.adapters.small import MODEL

from lossyfl.adapters.arrays import Array
from lossyfl.adapters.layout import MOST_ARRAYS, layout_of, read_layout
from lossyfl.errors import InputError


def test_floats_of_every_width_are_the_vector() -> None:
    layout = layout_of(MODEL)
    assert [slot.name for slot in layout.floats] == ["w", "half", "brain", "double", "empty"]
    assert layout.tensors == ((2, 3), (2,), (2,), (1, 1))
    assert layout.entries == 11


def test_a_layout_travels_as_text() -> None:
    layout = layout_of(MODEL, ["double"])
    assert read_layout(layout.text()) == layout
    assert layout.is_of(layout_of(MODEL))
    assert not layout.is_of(layout_of({"w": MODEL["w"]}))


def test_more_arrays_than_a_message_may_name() -> None:
    empty = Array.of(np.zeros(0, np.float32))
    names = map(str, range(MOST_ARRAYS))
    record = {**MODEL, **dict.fromkeys(names, empty)}
    with pytest.raises(InputError, match=f"at most {MOST_ARRAYS} arrays"):
        layout_of(record)


def test_no_floats() -> None:
    with pytest.raises(InputError, match="some with floats"):
        layout_of({"count": Array.of(np.array(7))})


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
