"""Levels that cost least where those of an earlier frame are known and only differences travel."""

import numpy as np
from numpy.typing import NDArray
from scripts.contexts import ClassFrame, Ints, levels_nbytes, priced_frame

from lossyfl.kernels.levels import LEANS, LEVELS, NEUTRAL, SCORES, UPRIGHT
from lossyfl.wire.class_side import Levels

Floats = NDArray[np.float64]
PASSES = 3


def flat(levels: Levels) -> Levels:
    """Levels of such rows and columns that tell nothing."""
    rows, columns = (np.full_like(each, NEUTRAL) for each in (levels.rows, levels.columns))
    return Levels(levels.shapes, rows, columns, np.full_like(levels.leans, UPRIGHT))


def nearer(frame: ClassFrame, before: Levels) -> ClassFrame:
    """The frame with levels chosen for what they and symbols cost, those of an earlier one being known."""
    found: list[ClassFrame] = [frame]
    for start in (frame.levels, before):
        levels = Levels(
            start.shapes, *(each.copy() for each in (start.rows, start.columns, start.leans))
        )
        own = frame.with_levels(levels)
        for _ in range(PASSES):
            _choose(own, before)
            own = frame.with_levels(levels)
        found.append(own)
    return min(found, key=lambda each: priced_frame(each) + 8 * levels_nbytes(each.levels, before))


def _choose(frame: ClassFrame, before: Levels) -> None:
    """One pass: rows and leans of all tensors, then columns."""
    levels, symbols = frame.levels, frame.plain
    costs = _costs(frame)
    steps = [
        _bits_of(a, b) for a, b in ((levels.rows, before.rows), (levels.columns, before.columns))
    ]
    leans = np.zeros((LEANS, LEANS))
    np.add.at(leans, (before.leans, levels.leans), 1)
    leans = -np.log2((leans + 1) / (leans + 1).sum(1, keepdims=True))
    entry = row = column = 0
    for count, across, run in levels.shapes.reshape(-1, 3).tolist():
        own = symbols[entry : entry + count * across * run].reshape(count, across, run)
        rows, columns = slice(row, row + count), slice(column, column + across)
        entry, row, column = entry + own.size, rows.stop, columns.stop
        seen = _counts(own, levels.columns[columns], 0, frame.alphabet)
        bits = _by_level(seen, costs)
        bits += leans[before.leans[rows]][:, :, None] + steps[0][before.rows[rows]][:, None]
        best = bits.reshape(count, -1).argmin(1)
        levels.leans[rows], levels.rows[rows] = best // LEVELS, best % LEVELS
        if across > 1:
            bits = steps[1][before.columns[columns]].copy()
            for lean in range(LEANS):
                some = levels.leans[rows] == lean
                seen = _counts(own[some], levels.rows[rows][some], 1, frame.alphabet)
                bits += _by_level(seen, costs[lean : lean + 1])[:, 0]
            levels.columns[columns] = bits.argmin(1)


def _costs(frame: ClassFrame) -> Floats:
    """Bits of every symbol by lean and score, near scores counted in part."""
    counts = np.zeros((3 * SCORES, frame.alphabet))
    np.add.at(counts, (frame.key, frame.symbols), 1)
    counts = counts.reshape(3, SCORES, -1)
    shares = (counts.sum((0, 1)) + 1) / (counts.sum() + frame.alphabet)
    padded = np.pad(counts, ((0, 0), (1, 1), (0, 0)))
    near = counts + 0.25 * (padded[:, :-2] + padded[:, 2:]) + 2 * shares
    bits = -np.log2(near / near.sum(2, keepdims=True))
    return np.stack(
        [bits[abs(lean - UPRIGHT)][:, :: -1 if lean < UPRIGHT else 1] for lean in range(LEANS)]
    )


def _counts(symbols: Ints, levels: NDArray[np.uint8], axis: int, alphabet: int) -> Floats:
    """How often each symbol stands beside each level, for every row (axis 0) or column (1)."""
    lines = np.arange(symbols.shape[axis]).reshape((-1, 1, 1) if axis == 0 else (1, -1, 1))
    beside = levels.astype(np.int64).reshape((1, -1, 1) if axis == 0 else (-1, 1, 1))
    size = symbols.shape[axis] * LEVELS * alphabet
    cells = ((lines * LEVELS + beside) * alphabet + symbols).ravel()
    counts = np.bincount(cells, minlength=size).astype(np.float64)
    return counts.reshape(symbols.shape[axis], LEVELS, alphabet)


def _by_level(counts: Floats, costs: Floats) -> Floats:
    """Bits of every line for each lean and level."""
    ways = [
        [np.tensordot(counts, own[level : level + LEVELS], 2) for level in range(LEVELS)]
        for own in costs
    ]
    return np.moveaxis(np.array(ways), 2, 0)


def _bits_of(levels: NDArray[np.uint8], before: NDArray[np.uint8]) -> Floats:
    """What every level costs after every earlier one."""
    sizes = np.abs(levels.astype(np.int64) - before)
    counts = np.bincount(sizes, minlength=LEVELS) + 1.0
    bits = -np.log2(counts / counts.sum()) + (np.arange(LEVELS) > 0)
    place = np.arange(LEVELS)
    return bits[np.abs(place[:, None] - place)]
