"""Calls of kernels that no recorded frame makes: rarer types of symbols, and targets."""

import numpy as np


def call_directly(times: int, longest: int) -> None:
    """So many calls of each, with up to so many entries."""
    rng = np.random.default_rng(11)
    for _ in range(times):
        entries = int(rng.integers(1, longest))
        _tables(rng, int(rng.integers(2, 9)))
        _segments(rng, entries)
        _steps(rng, int(rng.integers(1, 60)))
        _sums(rng, entries)
        for dtype in (np.uint8, np.uint16):
            _symbols(rng, entries, np.dtype(dtype))


def _tables(rng: np.random.Generator, alphabet: int) -> None:
    """Counts as bytes and back, and what codes they make."""
    from lossyfl.kernels.counts import read_counts, table_room, write_counts
    from lossyfl.kernels.model import build_frequencies, mean_bits, normalise

    counts = rng.integers(0, 120, alphabet)
    counts[rng.integers(alphabet)] += 1
    weights, again = counts.astype(np.uint64), np.zeros(alphabet, np.uint64)
    out = np.zeros(table_room(alphabet), np.uint8)
    read_counts(out[: write_counts(weights, out)], again)
    normalise(weights, int(rng.integers(8, 29)), again)
    for group in (0, 1, 2):
        frequencies = np.zeros(alphabet**group if group else alphabet, np.uint64)
        build_frequencies(weights, group, frequencies)
        mean_bits(frequencies, counts, group)


def _segments(rng: np.random.Generator, entries: int) -> None:
    """Letters as segments, by several threads."""
    from lossyfl.kernels.model import build_frequencies
    from lossyfl.kernels.rans import push_segments

    alphabet, group = [(2, 8), (3, 5), (4, 4), (6, 3), (16, 2), (200, 1)][int(rng.integers(6))]
    weights = np.ones(alphabet, np.uint64)
    weights[0] += rng.integers(9)
    frequencies = np.zeros(alphabet**group, np.uint64)
    build_frequencies(weights, group, frequencies)
    symbols = rng.integers(0, alphabet, entries).astype(np.uint8)
    share = int(rng.integers(1, 20))
    segments = -(-entries // (share * group))
    words, first = np.zeros(segments * 2 * (share + 9), np.uint8), np.zeros(segments, np.int64)
    push_segments(symbols, alphabet, group, 0, frequencies, share, 3, words, first)


def _steps(rng: np.random.Generator, bins: int) -> None:
    """What cells and steps cost."""
    from lossyfl.kernels.cells import costs_of_largest
    from lossyfl.kernels.dithered import expected_bits, step_for_bits

    values, counts = np.sort(rng.exponential(size=bins)), rng.integers(0, 9, (2, bins))
    room = np.zeros((2, 3 + int(values[-1] / 0.1)))
    expected_bits(values, counts, float(rng.uniform(0.1, 2)), room)
    step_for_bits(values, counts, float(rng.uniform(1, 9 * bins)), 0.1, 100.0, 6, room)
    ahead, sums = np.zeros((2, bins + 1), np.int64), np.zeros(bins + 1)
    ahead[:, 1:], sums[1:] = counts.cumsum(axis=1), values.cumsum()
    starts = np.arange(16_256, 16_256 + bins)
    lows, edges, out = np.full(bins, 1.0), np.zeros(9, np.int64), np.zeros((2, bins))
    costs_of_largest(16_256, ahead, sums, 99.0, starts, lows, 1.5, edges, out)


def _sums(rng: np.random.Generator, entries: int) -> None:
    """What is added of vectors."""
    from lossyfl.kernels.adding import add, sum_of_squares
    from lossyfl.kernels.theory import sum_of_squares_f64

    x, total = rng.normal(size=(2, entries)).astype(np.float32)
    add(x, 0.3, total)
    sum_of_squares(x)
    sum_of_squares_f64(np.abs(x.astype(np.float64)), 3.0)


def _symbols(rng: np.random.Generator, entries: int, dtype: np.dtype[np.uint8 | np.uint16]) -> None:
    """Vectors to symbols, and what is added of those."""
    from lossyfl.kernels.adding import add_letters, sum_looked_up, sum_rows
    from lossyfl.kernels.dither import add_dither
    from lossyfl.kernels.magnitudes import look_up_bins
    from lossyfl.kernels.stochastic import draw_levels, tallies
    from lossyfl.kernels.values import look_up
    from lossyfl.kernels.wide import pop_wide, push_wide

    x, bounds = rng.laplace(size=entries).astype(np.float32), np.array([0, entries])
    symbols, alphabet = np.zeros(entries, dtype), 300 if dtype.itemsize == 2 else 9
    q, most = alphabet // 2 - 1, np.abs(x).max(keepdims=True).view(np.uint32)
    draw_levels(x, bounds, 0 * most, most, q, 1, 3, 4, 2, symbols, *tallies(2 * q + 2, 2))
    look_up(symbols, bounds, np.linspace(-1, 1, alphabet, dtype=np.float32), np.zeros_like(x))
    starts = np.linspace(0, 1 << 28, alphabet + 1).astype(np.uint32)
    words, first = np.zeros(4 * (entries + 9), np.uint8), np.zeros(1, np.int64)
    push_wide(symbols, starts, entries, 1, words, first)
    coded, row = words[first[0] :].copy(), np.arange(alphabet, dtype=dtype)
    pop_wide(coded, np.array([0, len(coded) // 4]), starts, row, entries, 1, symbols)
    squares = rng.random(alphabet)
    sum_looked_up(symbols, squares)
    sum_rows(symbols, bounds, squares)
    add_letters(symbols, np.ones((alphabet, 2), np.float32), 2, np.zeros(2 * entries, np.float32))
    add_dither(x, 0, entries, bounds, np.ones(1, np.float32), q, 3, 4, symbols)
    of = (np.arange(1 << 16) >> 11).astype(dtype)
    look_up_bins(x, 0, entries, bounds, np.ones(1), of, symbols)
