"""Subtractive dither: noise that sender and receiver both know, added before rounding, taken off after.

Schuchman, 1964; Gray and Stockham, "Dithered quantizers", IEEE Transactions on Information Theory, 1993.
With u uniform over one step, round(x / step + u) - u differs from x / step by noise that is uniform over one
step, whatever x is: no bias, and an error that is independent of the data. u of entry i is word i of a
stream whose seed travels in the frame.
"""

import numpy as np
from numpy.typing import NDArray

from lossyfl.jit import kernel
from lossyfl.streams import GAMMA, MIX_A, MIX_B, Stream
from lossyfl.types import Bounds, Ladder, Symbols, Vector

CHUNK = 1 << 12
KEY = 0x6469746865720000
"""The second key word of every stream of dither."""


def noise(seed: int, start: int, stop: int) -> NDArray[np.float32]:
    """What is added to entries [start, stop), in steps: in [-1/2, 1/2), multiples of 2^-24.

    >>> noise(7, 0, 1000).min() >= -0.5 and noise(7, 0, 1000).max() < 0.5
    np.True_
    """
    bits = Stream(seed, KEY).bits(start, stop) >> np.uint32(8)
    return bits.astype(np.float32) * np.float32(2.0**-24) - np.float32(0.5)


def steps_of(ladder: Ladder) -> Vector:
    """The step of every block."""
    return (ladder.high.astype(np.float64) / ladder.levels).astype(np.float32)


def take_off(x: Vector, bounds: Bounds, ladder: Ladder, seed: int) -> None:
    """Make it x - step * noise, in two roundings an entry."""
    with np.errstate(over="ignore"):  # the hash wraps, which plain Python would report
        _take_off(x, bounds, steps_of(ladder), np.uint64(seed), np.uint64(KEY))


def add(
    x: Vector, bounds: Bounds, ladder: Ladder, seed: int, span: range, symbols: Symbols
) -> None:
    """The symbols of the entries in `span`: x / step + noise, rounded."""
    keys = np.uint64(seed), np.uint64(KEY)
    levels = np.float32(ladder.levels)
    with np.errstate(over="ignore"):
        _add(x, span.start, span.stop, bounds, steps_of(ladder), levels, *keys, symbols)


@kernel
def _take_off(x: Vector, bounds: Bounds, steps: Vector, a: np.uint64, b: np.uint64) -> None:
    words = np.empty(CHUNK // 2 + 1, dtype=np.uint64)
    halves = words.view(np.uint32)
    for block in range(len(bounds) - 1):
        step = steps[block]
        for start in range(bounds[block], bounds[block + 1], CHUNK):
            stop = min(start + CHUNK, bounds[block + 1])
            _random_words(a, b, start // 2, words[: (stop + 1) // 2 - start // 2])
            out = x[start:stop]
            bits = halves[start % 2 :]
            for i in range(len(out)):
                u = np.float32(np.int32(bits[i] >> np.uint32(8)))
                u = u * np.float32(2.0**-24) - np.float32(0.5)
                out[i] -= step * u


@kernel
def _add(
    x: Vector,
    start: int,
    stop: int,
    bounds: Bounds,
    steps: Vector,
    levels: np.float32,
    a: np.uint64,
    b: np.uint64,
    symbols: Symbols,
) -> None:
    """Symbols of [start, stop): round(x / step + u) + levels, in float32."""
    words = np.empty(CHUNK // 2 + 1, dtype=np.uint64)
    halves = words.view(np.uint32)
    block = np.searchsorted(bounds, start, side="right") - 1
    at = start
    while at < stop:
        if at == bounds[block + 1]:
            block += 1
            continue
        end = min(stop, bounds[block + 1], at + CHUNK)
        _random_words(a, b, at // 2, words[: (end + 1) // 2 - at // 2])
        bits = halves[at % 2 :]
        step = steps[block]
        values = x[at:end]
        out = symbols[at:end]
        for i in range(len(values)):
            u = np.float32(np.int32(bits[i] >> np.uint32(8)))
            u = u * np.float32(2.0**-24) - np.float32(0.5)
            share = values[i] / step if step > 0 else np.float32(0)  # a block of zeros has no steps
            place = np.floor(share + u + np.float32(0.5)) if step > 0 else np.float32(0)
            place = min(max(place, -levels), levels)
            out[i] = np.int32(place + levels)
        at = end


# A copy of that of the stochastic quantizer: numba's cache looks at one file only.
@kernel
def _random_words(a: np.uint64, b: np.uint64, start: int, words: NDArray[np.uint64]) -> None:
    """Words [start, start + len(words)) of the stream with the key (a, b)."""
    for j in range(len(words)):
        z = a + (np.uint64(start) + np.uint64(j)) * GAMMA
        z = (z ^ (z >> np.uint64(30)) ^ b) * MIX_A
        z = (z ^ (z >> np.uint64(27))) * MIX_B
        words[j] = z ^ (z >> np.uint64(31))
