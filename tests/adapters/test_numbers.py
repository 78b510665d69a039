"""Numbers of any dtype: what a mean, a strategy and a float16 make of them."""

import numpy as np
import pytest

from lossyfl.adapters.arrays import Array
from lossyfl.adapters.layout import Layout, Slot, layout_of
from lossyfl.adapters.numbers import check_width, converted, mean, to_vector, widened
from lossyfl.errors import Refused
from lossyfl.quantizers import quantizer
from lossyfl.streams import stream
from lossyfl.wire.codec import encode


class TestMean:
    def test_is_weighted_and_rounded_to_the_nearest(self) -> None:
        """(1 * 2 + 3 * 7) / 4 = 5.75."""
        before = {"n": Array.of(np.array([0]))}
        replies = [(1, {"n": Array.of(np.array([2]))}), (3, {"n": Array.of(np.array([7]))})]
        (made,) = mean(replies, before).values()
        assert (made.dtype, made.numpy().tolist()) == ("int64", [6])

    def test_of_facts_is_what_most_say(self) -> None:
        before = {"b": Array.of(np.array([False]))}
        replies = [(1, {"b": Array.of(np.array([False]))}), (3, {"b": Array.of(np.array([True]))})]
        assert mean(replies, before)["b"].numpy().tolist() == [True]

    def test_what_all_agree_on_is_exact(self) -> None:
        large = {"n": Array.of(np.array([2**60 + 1]))}
        made = mean([(1, large), (2, large)], {"n": Array.of(np.array([0]))})
        assert made["n"].numpy().tolist() == [2**60 + 1]

    def test_without_replies_everything_stays(self) -> None:
        before = {"n": Array.of(np.array([5]))}
        assert mean([], before) == before


def test_widened_has_float32_for_narrow_floats_only() -> None:
    names = ("bfloat16", "float16", "int64")
    layout = Layout(slots=tuple(Slot(name=n, dtype=n, shape=(2,)) for n in names))
    assert [slot.dtype for slot in widened(layout).slots] == ["float32", "float32", "int64"]


def test_to_vector_has_the_floats_alone() -> None:
    model = {
        "w": Array.of(np.ones((2, 2))),
        "n": Array.of(np.array([3])),
        "h": Array.of(np.array([0.5], np.float16)),
    }
    made = to_vector(model, layout_of(model))
    assert (made.dtype, made.tolist()) == (np.float32, [1, 1, 1, 1, 0.5])


def test_converted_rounds_to_whole_numbers() -> None:
    slot = Slot(name="n", dtype="int32", shape=(3, 1))
    made = converted(np.array([1.6, -1.6, 2.4]), slot)
    assert (made.dtype, made.numpy().tolist()) == ("int32", [[2], [-2], [2]])


class TestCheckWidth:
    HALF = Layout(slots=(Slot(name="h", dtype="float16", shape=(4,)),))
    BASE = np.full(4, 60_000, np.float32)

    def frame(self, value: float) -> bytes:
        x = np.full(4, value, np.float32)
        return encode(x, quantizer("stochastic"), rng=stream(0))  # the largest entry stays as it is

    def test_a_reply_within_float16_passes(self) -> None:
        check_width(7, self.frame(5_000), self.BASE, self.HALF)

    def test_a_reply_beyond_float16_is_refused(self) -> None:
        with pytest.raises(Refused, match=r"it makes h as large as 7e\+04, beyond float16"):
            check_width(7, self.frame(10_000), self.BASE, self.HALF)

    def test_a_damaged_reply_is_refused(self) -> None:
        with pytest.raises(Refused, match="device 7 is refused as damaged"):
            check_width(7, b"garbage", self.BASE, self.HALF)

    def test_other_floats_are_not_looked_at(self) -> None:
        whole = Layout(slots=(Slot(name="w", dtype="float32", shape=(4,)),))
        check_width(7, b"garbage", self.BASE, whole)
