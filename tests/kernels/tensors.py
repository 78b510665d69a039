"""Tensors with busy and idle rows and columns, for tests of class-coded symbols."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from tests.kernels.agree import agree

from lossyfl.kernels.class_tables import make_tables
from lossyfl.kernels.levels import LEANS, LEVELS
from lossyfl.kernels.model import MAX_LETTERS

ALPHABETS = [2, 3, 4, 5, 8, 15, 69, 256]


def shapes_of(seed: int, tensors: int = 3) -> NDArray[np.int64]:
    """Rows, columns and run of a few tensors, vectors among them."""
    rng = np.random.default_rng(seed)
    kinds = ((1, 1, 40), (9, 7, 1), (12, 3, 9), (5, 30, 1), (1, 12, 4), (20, 1, 11), (3, 2, 1))
    return np.array([kinds[i] for i in rng.integers(0, len(kinds), tensors)], np.int64).ravel()


def entries_of(shapes: NDArray[np.int64]) -> int:
    """Of all of them together."""
    return int(shapes.reshape(-1, 3).prod(1).sum())


def symbols_of(shapes: NDArray[np.int64], alphabet: int, seed: int) -> NDArray[np.uint8]:
    """Symbols around the middle, of rows and columns that differ in spread and of rows that lean."""
    rng = np.random.default_rng(seed)
    parts: list[NDArray[np.uint8]] = []
    for rows, columns, run in shapes.reshape(-1, 3).tolist():
        spread = np.exp(rng.normal(size=(rows, 1, 1)) + rng.normal(size=(1, columns, 1)))
        values = spread * (rng.normal(size=(rows, columns, run)) + rng.normal(size=(rows, 1, 1)))
        middle = (alphabet - 1) / 2 + values * alphabet / 12
        parts.append(np.clip(np.rint(middle), 0, alphabet - 1).astype(np.uint8).ravel())
    return np.concatenate(parts)


def levels_of(
    shapes: NDArray[np.int64], seed: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]:
    """Any levels of rows and columns, and leans."""
    rng = np.random.default_rng(seed)
    rows, columns = int(shapes[0::3].sum()), int(shapes[1::3].sum())
    high = int(rng.integers(1, LEVELS + 1))
    return (
        rng.integers(0, high, rows).astype(np.uint8),
        rng.integers(0, high, columns).astype(np.uint8),
        rng.integers(0, LEANS, rows).astype(np.uint8),
    )


def classes_of(seed: int, alphabet: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Symbols of several classes one after the other, of very different sizes; where each begins."""
    rng = np.random.default_rng(seed)
    parts = [
        rng.choice(
            alphabet, int(rng.choice([1, 2, 7, 60, 500])), p=rng.dirichlet(np.full(alphabet, 0.2))
        )
        for _ in range(classes)
    ]
    starts = np.cumsum(np.array([0, *map(len, parts)], np.int64))
    return np.concatenate(parts).astype(np.uint8), starts


def tables_of(
    symbols: np.ndarray, starts: np.ndarray, alphabet: int, bits: int
) -> tuple[np.ndarray, ...]:
    """Weights, numbers, commonest symbols, groups and frequencies of classes."""
    classes = len(starts) - 1
    own = [np.bincount(symbols[a:b], minlength=alphabet) for a, b in pairwise(starts)]
    made = agree(
        make_tables, np.concatenate(own), alphabet, bits, np.zeros(classes * alphabet, np.uint64),
        np.zeros(classes * (alphabet - 1), np.int64), np.zeros(classes, np.uint8), np.zeros(classes,
        np.uint8), np.zeros(classes * MAX_LETTERS, np.uint64),
    )  # fmt: skip
    assert made[-1] >= 0
    return made[3:-1]
