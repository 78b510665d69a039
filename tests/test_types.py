"""Tables."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lossyfl import InputError, UniformTable
from lossyfl.types import read_only


@given(q=st.integers(1, 40), twin=st.booleans(), seed=st.integers(0, 10**6))
def test_look_up_is_the_rows(q: int, twin: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    low = rng.random(7).astype(np.float32) * np.float32(twin)
    high = low + rng.random(7).astype(np.float32)
    table = UniformTable(low=low, high=high, alphabet=2 * q + 1 + twin)
    symbols = rng.integers(0, table.alphabet, 300).astype(np.uint8)
    blocks = rng.integers(0, 7, 300)
    expected = table.rows(0, 7)[blocks, symbols]
    assert np.array_equal(table.look_up(symbols, blocks), expected)


@pytest.mark.parametrize("alphabet", [0, 1, 2, 65_537])
def test_a_uniform_table_without_levels_cannot_be_made(alphabet: int) -> None:
    one = np.ones(1, np.float32)
    with pytest.raises(InputError, match=r"alphabet of UniformTable must be in \[3, 65536\]"):
        UniformTable(low=one, high=one, alphabet=alphabet)


def test_read_only_shares_memory() -> None:
    x = np.ones(3, np.float32)
    view = read_only(x)
    x[0] = 5
    assert view[0] == 5
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 1
