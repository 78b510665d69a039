"""Subtractive dither: noise that sender and receiver both know, added before rounding, taken off after.

Schuchman, 1964; Gray and Stockham, "Dithered quantizers", IEEE Transactions on Information Theory, 1993.
With u uniform over one step, round(x / step + u) - u differs from x / step by noise that is uniform over one
step, whatever x is: no bias, and an error that is independent of the data. u of entry i is word i of a
stream whose seed travels in the frame.
"""

import numpy as np
from numpy.typing import NDArray

from lossyfl.jit import kernel
from lossyfl.random_bits import STRIP, Bits, bits
from lossyfl.streams import Stream
from lossyfl.types import Bounds, Ladder, Symbols, Vector

KEY = 0x6469746865720000
"""The second key word of every stream of dither."""


def noise(seed: int, start: int, stop: int) -> NDArray[np.float32]:
    """What is added to entries [start, stop), in steps: in [-1/2, 1/2), multiples of 2^-24.

    >>> noise(7, 0, 1000).min() >= -0.5 and noise(7, 0, 1000).max() < 0.5
    np.True_
    """
    drawn = Stream(seed, KEY).bits(start, stop) >> np.uint32(8)
    return drawn.astype(np.float32) * np.float32(2.0**-24) - np.float32(0.5)


def steps_of(ladder: Ladder) -> Vector:
    """The step of every block."""
    return (ladder.high.astype(np.float64) / ladder.levels).astype(np.float32)


def take_off(x: Vector, bounds: Bounds, ladder: Ladder, seed: int) -> None:
    """Make it x - step * noise, in two roundings an entry."""
    steps, rng = steps_of(ladder), Stream(seed, KEY)
    for start in range(0, len(x), STRIP):
        stop = min(start + STRIP, len(x))
        _take_off(x, start, stop, bounds, steps, bits(rng, start, stop))


def add(
    x: Vector,
    bounds: Bounds,
    steps: Vector,
    levels: int,
    seed: int,
    span: range,
    symbols: Symbols,
) -> None:
    """The symbols of the entries in `span`: x / step + noise, rounded."""
    drawn = bits(Stream(seed, KEY), span.start, span.stop)
    _add(x, span.start, span.stop, bounds, steps, np.float32(levels), drawn, symbols)


@kernel
def _take_off(x: Vector, start: int, stop: int, bounds: Bounds, steps: Vector, drawn: Bits) -> None:
    block = np.searchsorted(bounds, start, side="right") - 1
    at = start
    while at < stop:
        end = min(stop, bounds[block + 1])
        out = x[at:end]
        own = drawn[at - start : end - start]
        step = steps[block]
        for i in range(len(out)):
            u = np.float32(np.int32(own[i] >> np.uint32(8)))
            u = u * np.float32(2.0**-24) - np.float32(0.5)
            out[i] -= step * u
        at = end
        block += 1


@kernel
def _add(
    x: Vector,
    start: int,
    stop: int,
    bounds: Bounds,
    steps: Vector,
    levels: np.float32,
    drawn: Bits,
    symbols: Symbols,
) -> None:
    """Symbols of [start, stop): round(x / step + u) + levels, in float32."""
    block = np.searchsorted(bounds, start, side="right") - 1
    at = start
    while at < stop:
        end = min(stop, bounds[block + 1])
        values = x[at:end]
        out = symbols[at:end]
        own = drawn[at - start : end - start]
        step = steps[block]
        if step > 0:
            for i in range(len(values)):
                u = np.float32(np.int32(own[i] >> np.uint32(8)))
                u = u * np.float32(2.0**-24) - np.float32(0.5)
                place = np.floor(values[i] / step + u + np.float32(0.5))
                out[i] = np.int32(min(max(place, -levels), levels) + levels)
        else:
            out[:] = np.int32(levels)  # a block of zeros has no steps
        at = end
        block += 1
