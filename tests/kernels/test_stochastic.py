"""Ranges and levels of the stochastic quantizer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree, cut, natives, refuses

from lossyfl.kernels.stochastic import draw_levels, magnitude_ranges

SEEDS = st.integers(0, 2**32 - 1)


@given(seed=SEEDS, entries=st.integers(0, 3000), blocks=st.integers(1, 9))
def test_same_ranges_of_any_bits(seed: int, entries: int, blocks: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2**32, entries, dtype=np.uint32)
    low, high = np.zeros((2, blocks), dtype=np.uint32)
    agree(magnitude_ranges, x, cut(entries, blocks, rng), low, high)


@given(
    seed=SEEDS,
    entries=st.integers(1, 3000),
    blocks=st.integers(1, 6),
    q=st.integers(1, 200) | st.integers(1, 32_767),
    scale=st.sampled_from([1e-44, 1e-38, 1e-3, 1.0, 1e30]),
    shift=st.sampled_from([0.0, 3.0]),
)
def test_same_symbols(
    seed: int, entries: int, blocks: int, q: int, scale: float, shift: float
) -> None:
    """Of all sizes, with zeros, flat blocks, and blocks with and without a zero side by side."""
    rng = np.random.default_rng(seed)
    x = rng.laplace(size=entries)
    x = ((x + np.copysign(shift, x)) * scale).astype(np.float32)
    bounds = cut(entries, blocks, rng)
    x[bounds[0] : bounds[1]] *= np.float32(seed % 2)
    low, high = np.zeros((2, blocks), dtype=np.uint32)
    magnitude_ranges(x.view(np.uint32), bounds, low, high)
    high = np.maximum(low, high)  # of empty blocks
    low, high = np.minimum(low, 0x7F7FFFFF), np.minimum(high, 0x7F7FFFFF)
    ranges = low.view(np.float32), high.view(np.float32)
    twin = int(low.any())
    kind = np.uint8 if 2 * q + 1 + twin <= 256 else np.uint16
    agree(draw_levels, x, bounds, *ranges, q, twin, 5, seed, np.zeros(entries, dtype=kind))


@given(seed=SEEDS, twin=st.integers(0, 1))
def test_any_bits_and_any_ranges_give_symbols_of_the_alphabet(seed: int, twin: int) -> None:
    """Ranges that are not those of the vector: conversions stay defined."""
    rng = np.random.default_rng(seed)
    x, low, high = (
        rng.integers(0, 2**32, n, dtype=np.uint32).view(np.float32) for n in (400, 1, 1)
    )
    bounds, symbols = np.array([0, 400]), np.zeros(400, dtype=np.uint8)
    for native in natives(draw_levels):
        native(x, bounds, low, high, 3, twin, 1, 2, symbols)
        assert symbols.max() <= 6 + twin


@pytest.mark.parametrize(
    ("bounds", "blocks", "symbols", "q"),
    [
        ([0, 9], 1, 8, 2),
        ([4, 2], 1, 8, 2),
        ([-1, 8], 1, 8, 2),
        ([0], 1, 8, 2),
        ([0, 8], 2, 8, 2),
        ([0, 8], 1, 7, 2),
        ([0, 8], 1, 8, 32_768),
    ],
)
def test_arrays_that_do_not_fit(bounds: list[int], blocks: int, symbols: int, q: int) -> None:
    x, cuts = np.ones(8, np.float32), np.array(bounds)
    low, high = np.ones((2, blocks), np.float32)
    refuses(draw_levels, x, cuts, low, high, q, 0, 1, 2, np.zeros(symbols, np.uint8))
