"""Bins, look-ups by bins, and root mean squares."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import agree, cut, refuses

from lossyfl.kernels.magnitudes import BINS, bin_magnitudes, look_up_bins, root_mean_squares

SEEDS = st.integers(0, 2**32 - 1)


@given(
    seed=SEEDS,
    entries=st.integers(1, 3000),
    blocks=st.integers(1, 5),
    kind=st.sampled_from([np.uint8, np.uint16]),
)
def test_same_bins_and_symbols_of_any_part(
    seed: int, entries: int, blocks: int, kind: type[np.uint8]
) -> None:
    rng = np.random.default_rng(seed)
    x = rng.standard_t(1, size=entries).astype(np.float32)
    factors = rng.random(blocks) * 2.0 ** rng.integers(-140, 120, blocks)
    bounds = cut(entries, blocks, rng)
    start, stop = sorted(rng.integers(0, entries + 1, 2).tolist())
    counts, sums, used = rng.integers(0, 9, 2 * BINS), rng.random(BINS), np.array([BINS, 0])
    agree(bin_magnitudes, x, start, stop, bounds, factors, counts, sums, used)
    of = rng.integers(0, 200, 2 * BINS).astype(kind)
    agree(look_up_bins, x, start, stop, bounds, factors, of, np.zeros(entries, kind))


def test_the_bins_in_use_are_those_with_counts() -> None:
    x = np.array([0.5, -3, 0.25, 2], dtype=np.float32)
    counts, sums, used = np.zeros(2 * BINS, np.int64), np.zeros(BINS), np.array([BINS, 0])
    for start in (0, 2):
        bin_magnitudes(x, start, start + 2, np.array([0, 4]), np.ones(1), counts, sums, used)
    full = np.flatnonzero(counts.reshape(2, BINS).sum(axis=0))
    assert used.tolist() == [full[0], full[-1] + 1]
    bin_magnitudes(x, 4, 4, np.array([0, 4]), np.ones(1), counts, sums, used)
    assert used.tolist() == [full[0], full[-1] + 1]


@given(seed=SEEDS, entries=st.integers(1, 3000), blocks=st.integers(1, 5))
def test_same_roots(seed: int, entries: int, blocks: int) -> None:
    rng = np.random.default_rng(seed)
    x = rng.standard_t(1, size=entries).astype(np.float32)
    agree(root_mean_squares, x, cut(entries, blocks, rng), np.zeros(blocks))


def test_float32_factors_as_doubles_round_once() -> None:
    """The product of two float32 is exact in float64: what is binned is x * factor in float32."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 0x7F800000, 10_000, dtype=np.uint32).view(np.float32)
    factor = np.float32(rng.random())
    wide = (x.astype(np.float64) * np.float64(factor)).astype(np.float32)
    assert np.array_equal(wide.view(np.uint32), (x * factor).view(np.uint32))


def test_arrays_that_do_not_fit() -> None:
    x, factors, bounds = np.ones(8, np.float32), np.ones(1), np.array([0, 8])
    counts, sums, used = np.zeros(2 * BINS, np.int64), np.zeros(BINS), np.array([BINS, 0])
    refuses(bin_magnitudes, x, 0, 9, bounds, factors, counts, sums, used)
    refuses(bin_magnitudes, x, 0, 8, bounds, factors[:0], counts, sums, used)
    refuses(bin_magnitudes, x, 0, 8, bounds, factors, counts[1:], sums, used)
    refuses(bin_magnitudes, x, 0, 8, bounds, factors, counts, sums[1:], used)
    refuses(bin_magnitudes, x, 0, 8, bounds, factors, counts, sums, used[1:])
    of, symbols = np.zeros(2 * BINS, np.uint8), np.zeros(8, np.uint8)
    refuses(look_up_bins, x, -1, 8, bounds, factors, of, symbols)
    refuses(look_up_bins, x, 0, 8, bounds, factors, of[1:], symbols)
    refuses(look_up_bins, x, 0, 8, bounds, factors, of, symbols[1:])
    refuses(root_mean_squares, x, bounds, np.zeros(2))
