"""Ranges, levels and counts of the stochastic quantizer."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.kernels.agree import cut, natives, refuses

from lossyfl.kernels.native import reference
from lossyfl.kernels.stochastic import (
    INFINITY_BITS,
    NOT_FINITE,
    draw_levels,
    quantize_levels,
    tallies,
)
from lossyfl.types import symbol_type

SEEDS = st.integers(0, 2**32 - 1)


def results(
    x: np.ndarray, bounds: np.ndarray, q: int, seed: int, threads: int
) -> list[tuple[object, ...]]:
    """What every version of both kernels gives: result, ranges, symbols and counts."""
    found: list[tuple[object, ...]] = []
    width = 2 * q + 2
    for version in range(1 + len(natives(quantize_levels))):
        quantize = [reference(quantize_levels), *natives(quantize_levels)][version]
        draw = [reference(draw_levels), *natives(draw_levels)][version]
        low, high = np.full((2, len(bounds) - 1), 7, np.uint32)
        symbols, others = np.zeros((2, len(x)), symbol_type(width))
        made = quantize(
            x, bounds, q, 5, seed, threads, low, high, symbols, *tallied(width, threads)
        )
        assert made in (2 * q + 1, 2 * q + 2, NOT_FINITE)
        if made == NOT_FINITE:
            found.append((made,))
            continue
        counts = tallied(width, threads)
        twin = made - 2 * q - 1
        assert draw(x, bounds, low, high, q, twin, 5, seed, threads, others, *counts) == 0
        assert np.array_equal(symbols, others)
        expected = np.bincount(symbols[bounds[0] : bounds[-1]], minlength=width)
        assert np.array_equal(counts[0][:width], expected)
        found.append((made, low.tobytes(), high.tobytes(), symbols.tobytes(), expected.tobytes()))
    return found


def tallied(width: int, threads: int) -> tuple[np.ndarray, np.ndarray]:
    """Room for counts that is not empty."""
    counts, lanes = tallies(width, threads)
    counts.fill(3)
    lanes.fill(3)
    return counts, lanes


@given(
    seed=SEEDS,
    entries=st.integers(1, 3000),
    blocks=st.integers(1, 6),
    q=st.integers(1, 200) | st.integers(1, 32_767),
    scale=st.sampled_from([1e-44, 1e-38, 1e-3, 1.0, 1e30]),
    shift=st.sampled_from([0.0, 3.0]),
    threads=st.integers(1, 3),
)
def test_same_ranges_symbols_and_counts(
    seed: int, entries: int, blocks: int, q: int, scale: float, shift: float, threads: int
) -> None:
    """Of all sizes, with zeros, flat and empty blocks, and blocks with and without a zero side by side."""
    rng = np.random.default_rng(seed)
    x = rng.laplace(size=entries)
    x = ((x + np.copysign(shift, x)) * scale).astype(np.float32)
    bounds = cut(entries, blocks, rng)
    x[bounds[0] : bounds[1]] *= np.float32(seed % 2)
    assert len(set(results(x, bounds, q, seed, threads))) == 1


@pytest.mark.parametrize("q", [2, 50, 300])
def test_pieces_are_as_if_there_were_none(q: int) -> None:
    """Vectors of several pieces, whose blocks begin and end within them."""
    rng = np.random.default_rng(q)
    x = rng.laplace(size=200_001).astype(np.float32)
    for bounds in ([0, 200_001], [0, 3, 70_000, 70_001, 131_072, 200_001], [5, 100_000]):
        assert len(set(results(x, np.array(bounds), q, 1, 2))) == 1


@given(seed=SEEDS, entries=st.integers(1, 300), blocks=st.integers(1, 9))
def test_same_ranges_of_any_bits(seed: int, entries: int, blocks: int) -> None:
    """NaN and infinity are refused, and only they."""
    rng = np.random.default_rng(seed)
    bits = rng.integers(0, 2**32, entries, dtype=np.uint32)
    if seed % 2:
        bits &= np.uint32(0xFF7FFFFF)  # nothing but finite floats
    x = bits.view(np.float32)
    (made, *_), *others = results(x, cut(entries, blocks, rng), 3, seed, 1)
    assert (made == NOT_FINITE) == (not np.isfinite(x).all())
    assert all(other[0] == made for other in others)


@given(seed=SEEDS, twin=st.integers(0, 1))
def test_any_bits_and_any_ranges_give_symbols_of_the_alphabet(seed: int, twin: int) -> None:
    """Ranges that are not those of the vector: conversions stay defined."""
    rng = np.random.default_rng(seed)
    x, low, high = (rng.integers(0, 2**32, n, dtype=np.uint32) for n in (400, 1, 1))
    bounds, symbols = np.array([0, 400]), np.zeros(400, dtype=np.uint8)
    for native in natives(draw_levels):
        counts, lanes = tallies(7 + twin, 1)
        native(x.view(np.float32), bounds, low, high, 3, twin, 1, 2, 1, symbols, counts, lanes)
        assert symbols.max() <= 6 + twin
        assert counts.sum() == 400


@pytest.mark.parametrize(
    ("bounds", "blocks", "symbols", "q", "threads", "counts"),
    [
        ([0, 9], 1, 8, 2, 1, 6),
        ([4, 2], 1, 8, 2, 1, 6),
        ([-1, 8], 1, 8, 2, 1, 6),
        ([0], 1, 8, 2, 1, 6),
        ([0, 8], 2, 8, 2, 1, 6),
        ([0, 8], 1, 7, 2, 1, 6),
        ([0, 8], 1, 8, 32_768, 1, 65_538),
        ([0, 8], 1, 8, 200, 1, 402),
        ([0, 8], 1, 8, 0, 1, 6),
        ([0, 8], 1, 8, 2, 0, 6),
        ([0, 8], 1, 8, 2, -1, 6),
        ([0, 8], 1, 8, 2, 2**62, 6),
        ([0, 8], 1, 8, 2, 2, 11),
        ([0, 8], 1, 8, 2, 1, 5),
        ([0, 8], 1, 8, 2, 1, 0),
        ([0, 8], 1, 8, 2, 1, 300),
        ([0, 8], 1, 8, 2**62, 1, 6),
    ],
)
def test_arrays_that_do_not_fit(
    bounds: list[int], blocks: int, symbols: int, q: int, threads: int, counts: int
) -> None:
    x, cuts = np.ones(8, np.float32), np.array(bounds)
    low, high = np.full((2, blocks), INFINITY_BITS - 1, np.uint32)
    room = np.zeros(symbols, np.uint8), np.zeros(counts, np.int64), np.zeros(0, np.uint32)
    refuses(draw_levels, x, cuts, low, high, q, 1, 1, 2, threads, *room)
    refuses(quantize_levels, x, cuts, q, 1, 2, threads, low, high, *room)


def test_lanes_that_are_too_few_are_refused() -> None:
    x, bounds = np.ones(8, np.float32), np.array([0, 8])
    low, high = np.ones((2, 1), np.uint32)
    room = np.zeros(8, np.uint16), np.zeros(2 * 602, np.int64), np.zeros(2 * 4 * 602 - 1, np.uint32)
    refuses(draw_levels, x, bounds, low, high, 300, 1, 1, 2, 2, *room)
    refuses(quantize_levels, x, bounds, 300, 1, 2, 2, low, high, *room)
