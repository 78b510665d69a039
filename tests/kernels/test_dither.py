"""Dither: added and taken off in the same roundings everywhere."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree, cut, natives, refuses

from lossyfl.kernels.dither import add_dither, take_off_dither

SEEDS = st.integers(0, 2**32 - 1)


@given(
    seed=SEEDS,
    entries=st.integers(1, 3000),
    blocks=st.integers(1, 5),
    levels=st.integers(1, 127) | st.integers(128, 32_767),
    step=st.sampled_from([1e-45, 1e-3, 1.0, 1e10]),
)
def test_same_symbols_of_any_part(
    seed: int, entries: int, blocks: int, levels: int, step: float
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=entries).astype(np.float32)
    steps = (rng.random(blocks) * step).astype(np.float32)
    steps[seed % blocks] = 0
    start, stop = sorted(rng.integers(0, entries + 1, 2).tolist())
    symbols = np.zeros(entries, dtype=np.uint8 if levels < 128 else np.uint16)
    bounds = cut(entries, blocks, rng)
    agree(add_dither, x, start, stop, bounds, steps, levels, seed, 7, symbols)


@given(seed=SEEDS, entries=st.integers(1, 3000), blocks=st.integers(1, 5))
def test_same_floats(seed: int, entries: int, blocks: int) -> None:
    rng = np.random.default_rng(seed)
    x, steps = rng.normal(size=entries).astype(np.float32), rng.random(blocks).astype(np.float32)
    agree(take_off_dither, x, cut(entries, blocks, rng), steps, seed, 7)


def test_any_bits_give_symbols_of_the_alphabet() -> None:
    x = np.random.default_rng(0).integers(0, 2**32, 10_000, dtype=np.uint32).view(np.float32)
    symbols = np.zeros(len(x), dtype=np.uint8)
    for native in natives(add_dither):
        native(x, 0, len(x), np.array([0, len(x)]), np.ones(1, np.float32), 5, 1, 2, symbols)
        assert symbols.max() <= 10


def test_arrays_that_do_not_fit() -> None:
    x, steps, symbols = np.ones(8, np.float32), np.ones(1, np.float32), np.zeros(8, np.uint8)
    bounds = np.array([0, 8])
    refuses(add_dither, x, 0, 9, bounds, steps, 3, 1, 2, symbols)
    refuses(add_dither, x, -1, 8, bounds, steps, 3, 1, 2, symbols)
    refuses(add_dither, x, 0, 8, bounds, steps, 0, 1, 2, symbols)
    refuses(add_dither, x, 0, 8, bounds, steps[:0], 3, 1, 2, symbols)
    refuses(add_dither, x, 0, 8, bounds, steps, 3, 1, 2, symbols[:7])
    refuses(take_off_dither, x, np.array([0, 9]), steps, 1, 2)
    refuses(take_off_dither, x, bounds, steps[:0], 1, 2)
