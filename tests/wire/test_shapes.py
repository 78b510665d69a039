"""Shapes of tensors: as matrices, and as they travel."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lossyfl import FrameError, InputError
from lossyfl.wire.shapes import as_shapes, entries_of, lengths_of, matrices_of, read, written

SHAPE = st.lists(st.integers(1, 9), max_size=4).map(tuple)


@given(tensors=st.lists(SHAPE, min_size=1, max_size=8))
def test_round_trip(tensors: list[tuple[int, ...]]) -> None:
    entries = sum(lengths_of(tensors))
    shapes = matrices_of(tensors, entries)
    if shapes is None:
        return
    assert int(shapes.reshape(-1, 3).prod(1).sum()) == entries
    assert np.array_equal(read(*written(shapes), entries, offset=0), shapes)


def test_numbers_of_a_network_are_mostly_zero() -> None:
    tensors = [(32, 1, 3, 3), (32,), (64, 32, 3, 3), (64,), (64, 64, 3, 3), (64,)]
    shapes = matrices_of(tensors, sum(lengths_of(tensors)))
    assert shapes is not None
    assert written(shapes) == ([31, 0, 63, 0, 63, 0], [0, 0, 0, 0, 0, 0], [8, 0, 0, 0, 0, 0])


def test_plain_vectors_are_no_matrices() -> None:
    assert matrices_of(None, 5) is None
    assert matrices_of([5], 5) is None
    assert matrices_of([(5,), ()], 6) is None
    assert matrices_of([(2, 2)], 4) is None
    assert matrices_of([(2, 2**21)], 2**22) is None


@pytest.mark.parametrize("tensors", [[(4, 30)], [(4, 30), 2], [(-4, -30), 1], [(0, 3), 120]])
def test_shapes_of_another_vector_are_refused(tensors: list[int | tuple[int, ...]]) -> None:
    with pytest.raises(InputError, match="tensors of encode must be shapes of 121 entries in all"):
        matrices_of(tensors, 121)


def test_lengths_and_shapes_of_any_kind_are_taken() -> None:
    given_as = [3, np.int64(4), [2, 2], (), np.array([3, 1]), torch.zeros(2, 5).shape]
    assert as_shapes(given_as, of="it") == (3, 4, (2, 2), (), (3, 1), (2, 5))
    assert entries_of(as_shapes(given_as, of="it")) == 3 + 4 + 4 + 1 + 3 + 10


@pytest.mark.parametrize("wrong", [5, ["ab"], [2.5], [(2, 0.5)], [None], [[(2, 2)]]])
def test_what_is_no_length_or_shape_is_refused(wrong: Any) -> None:  # noqa: ANN401
    with pytest.raises(InputError, match="tensors of it must be lengths or shapes of tensors"):
        as_shapes(wrong, of="it")


@pytest.mark.parametrize(
    ("rows", "columns", "runs"),
    [
        ([2**40], [0], [0]), ([0], [0], [2**39]), ([-1], [0], [0]), ([3], [-1], [8]), ([3], [4], [-1]),
        ([0], [0], [97]), ([0], [0], [99]), ([49], [0], [1]), ([0, 0], [0, 0], [98, 0]),
    ],
)  # fmt: skip
def test_hostile_shapes_are_refused(rows: list[int], columns: list[int], runs: list[int]) -> None:
    with pytest.raises(FrameError, match="shapes of tensors that fill 99 entries"):
        read(rows, columns, runs, 99, offset=7)
