"""What travels beside the vector is whole, and takes its part of a bound."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.adapters.small import MODEL

from lossyfl.adapters.arrays import Array
from lossyfl.adapters.exact import bound_beside, check_exact, exact_of, nbytes
from lossyfl.adapters.layout import layout_of
from lossyfl.errors import InputError

LAYOUT = layout_of(MODEL, ["double"])
EXACT = exact_of(MODEL, LAYOUT)


def test_is_what_is_not_in_the_vector() -> None:
    assert list(EXACT) == ["double", "count", "mask"]
    assert nbytes(EXACT) == sum(len(MODEL[name].data) for name in EXACT)
    check_exact(EXACT, LAYOUT, of="it")


@pytest.mark.parametrize(
    "changed",
    [
        {"more": EXACT["count"]},
        {"count": Array.of(np.array([7]))},
        {"count": Array.of(np.array(7, np.int32))},
        {"count": replace(EXACT["count"], data=b"")},
        {"double": Array.of(np.array([[np.nan]]))},
    ],
)
def test_what_a_stranger_sends_is_refused(changed: dict[str, Array]) -> None:
    with pytest.raises(InputError, match="of it must be"):
        check_exact(EXACT | changed, LAYOUT, of="it")  # pyright: ignore[reportOperatorIssue]


def test_an_array_that_is_missing_is_refused() -> None:
    with pytest.raises(InputError, match=r"array count of it .* got none"):
        check_exact({"mask": EXACT["mask"], "double": EXACT["double"]}, LAYOUT, of="it")


class TestBound:
    def test_floats_take_their_part_of_it(self) -> None:
        """3 of 5 leave 4."""
        moved = {**EXACT, "double": Array.of(np.array([[3.25]]))}
        assert bound_beside(moved, EXACT, 5.0) == 4

    def test_more_than_all_of_it(self) -> None:
        moved = {**EXACT, "double": Array.of(np.array([[6.25]]))}
        with pytest.raises(InputError, match="within the clipping norm of 5, got 6"):
            bound_beside(moved, EXACT, 5.0)

    def test_counts_take_nothing(self) -> None:
        assert bound_beside({**EXACT, "count": Array.of(np.array(99))}, EXACT, 5.0) == 5

    def test_without_one_there_is_none(self) -> None:
        assert bound_beside({}, {}, math.inf) == math.inf
