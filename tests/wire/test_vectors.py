"""Conversion of inputs."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import f32, laplace

from lossyfl.wire.vectors import as_vector, block_bounds, narrow_bfloat16, widen_bfloat16


def test_float32_is_not_copied() -> None:
    x = laplace(10)
    assert np.shares_memory(as_vector(x), x)
    tensor = torch.ones(10)
    assert np.shares_memory(as_vector(tensor), tensor.numpy())


@given(value=st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_bfloat16_rounds_as_torch_does(value: float) -> None:
    x = f32([value])
    expected = torch.from_numpy(x).bfloat16().view(torch.int16).numpy().view(np.uint16)
    assert narrow_bfloat16(x) == expected
    assert widen_bfloat16(expected) == torch.from_numpy(x).bfloat16().float().numpy()


@given(entries=st.integers(1, 1000), block=st.integers(1, 1200))
def test_blocks_cover_the_vector(entries: int, block: int) -> None:
    bounds = block_bounds(block, entries, None)
    assert bounds[0] == 0
    assert bounds[-1] == entries
    assert np.all(np.diff(bounds)[:-1] == block)


def test_empty_tensors_have_no_block() -> None:
    assert block_bounds("tensor", 5, (0, 2, 0, 3)).tolist() == [0, 2, 5]


@pytest.mark.parametrize("name", ["float16", "float64"])
def test_numpy_floats_convert(name: str) -> None:
    x = laplace(100).astype(name)
    assert np.array_equal(as_vector(x), x.astype(np.float32))
