"""Models of every kind become a vector and come back."""

import numpy as np
import pytest
from tests.adapters.small import MODEL

from lossyfl.adapters.arrays import Array, floats
from lossyfl.adapters.exact import exact_of
from lossyfl.adapters.layout import layout_of, read_layout
from lossyfl.adapters.models import check_range, filled, flatten, is_in_range, unflatten
from lossyfl.errors import InputError


def test_there_and_back() -> None:
    layout = layout_of(MODEL)
    vector = flatten(MODEL, layout, of="it")
    assert vector.tolist() == [0, 1, 2, 3, 4, 5, 0.5, -2, 1, -3.140625, 0.25]
    assert layout.tensors == ((2, 3), (2,), (2,), (1, 1))
    others = exact_of(MODEL, layout)
    assert set(others) == {"count", "mask"}
    back = unflatten(vector, others, read_layout(layout.text()))
    assert list(back) == list(MODEL)
    for name, array in MODEL.items():
        assert (back[name].dtype, tuple(back[name].shape)) == (array.dtype, tuple(array.shape))
        assert back[name].data == array.data


def test_left_out_arrays_are_as_they_were() -> None:
    trained = {"w": Array.of(np.ones((2, 3), np.float32))}
    whole = filled(trained, MODEL, of="it")
    assert floats(whole["w"]).sum() == 6
    assert whole["count"] == MODEL["count"]
    with pytest.raises(InputError, match="one more, other"):
        filled({"other": Array.of(np.ones(1))}, MODEL, of="it")


@pytest.mark.parametrize("array", [np.zeros((3, 2), np.float32), np.zeros((2, 3))])
def test_another_shape_or_dtype(array: np.ndarray) -> None:
    changed = {**MODEL, "w": Array.of(array)}
    with pytest.raises(InputError, match=r"array w of it must be float32 of shape \(2, 3\)"):
        flatten(changed, layout_of(MODEL), of="it")


def test_an_array_that_is_missing() -> None:
    layout = layout_of(MODEL)
    with pytest.raises(
        InputError, match=r"array w of it must be float32 .*, as at the start, got none"
    ):
        flatten({name: own for name, own in MODEL.items() if name != "w"}, layout, of="it")


class TestRange:
    LAYOUT = layout_of({"w": MODEL["w"], "half": MODEL["half"]})

    def test_a_float16_may_not_overflow(self) -> None:
        vector = np.zeros(8, np.float32)
        vector[7] = 1e5
        assert not is_in_range(vector, self.LAYOUT)
        with pytest.raises(InputError, match="array half of it must be not beyond float16"):
            check_range(vector, self.LAYOUT, of="it")

    def test_a_float32_may_be_larger(self) -> None:
        vector = np.zeros(8, np.float32)
        vector[0] = 1e5
        assert is_in_range(vector, self.LAYOUT)
