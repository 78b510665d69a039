"""The shapes of a vector's tensors: as they are given, and as matrices whose rows and columns have levels.

A tensor of shape (64, 32, 3, 3) is 64 rows of 32 columns, each of a run of 9 entries; one of a single
dimension, or with too few entries for its rows and columns, is one row of one column. What travels is, of
every tensor, its rows less one, its columns less the rows of the last matrix (or less one where there is a
single row), and its run less that of the last matrix (or less those rows), so that most numbers of a
network are zero.
"""

import math
from collections.abc import Iterable, Sequence
from operator import index

import numpy as np
from numpy.typing import NDArray

from lossyfl.errors import FrameError, InputError
from lossyfl.kernels.levels import MOST_OF_ROW
from lossyfl.types import Shape

Shapes = NDArray[np.int64]

MOST_TENSORS = 1 << 16
WORTH = 4
"""Entries for each row and column below which a matrix is taken for a plain vector."""


def as_shapes(tensors: Iterable[object], *, of: str) -> tuple[Shape, ...]:
    """Lengths as whole numbers and shapes as tuples of them, whatever gave them; raises on others.

    >>> as_shapes([np.int64(64), [3, 3]], of="encode")
    (64, (3, 3))
    """
    try:
        return tuple(
            tuple(map(index, each)) if isinstance(each, Iterable) else index(each)  # pyright: ignore
            for each in tensors
        )
    except TypeError:
        allowed = "lengths or shapes of tensors, as (64, 32, 3, 3)"
        raise InputError("tensors", of=of, allowed=allowed, got=tensors) from None


def entries_of(tensors: Sequence[Shape]) -> int:
    """The number of entries of all tensors.

    >>> entries_of([64, (3, 3)])
    73
    """
    return sum(lengths_of(tensors))


def lengths_of(tensors: Sequence[Shape]) -> tuple[int, ...]:
    """The number of entries of every tensor, given as lengths or shapes.

    >>> lengths_of([18432, (64, 32, 3, 3), ()])
    (18432, 18432, 1)
    """
    return tuple(each if isinstance(each, int) else math.prod(each) for each in tensors)


def matrices_of(tensors: Sequence[Shape] | None, entries: int) -> Shapes | None:
    """Rows, columns and run of every tensor that has entries; None if none is a matrix.

    Raises unless they fill the vector.

    >>> matrices_of([(64, 32, 3, 3), (64,)], 18496).tolist()
    [64, 32, 9, 1, 1, 64]
    >>> matrices_of([18496], 18496)
    """
    if tensors is None or all(isinstance(each, int) or len(each) < 2 for each in tensors):
        return None
    lengths = lengths_of(tensors)
    dimensions = [min(each, default=0) for each in tensors if not isinstance(each, int)]
    if min(*lengths, *dimensions) < 0 or sum(lengths) != entries:
        allowed = f"shapes of {entries} entries in all"
        raise InputError("tensors", of="encode", allowed=allowed, got=tensors)
    pairs = zip(tensors, lengths, strict=True)
    found = [_matrix(each, length) for each, length in pairs if length]
    if len(found) > MOST_TENSORS or all(rows * columns == 1 for rows, columns, _ in found):
        return None
    return np.array(found, dtype=np.int64).ravel()


def _matrix(shape: Shape, length: int) -> tuple[int, int, int]:
    if isinstance(shape, int) or len(shape) < 2:
        return 1, 1, length
    rows, columns = int(shape[0]), int(shape[1])
    run = length // (rows * columns)
    if length < WORTH * (rows + columns) or max(columns, rows) * run > MOST_OF_ROW:
        return 1, 1, length
    return rows, columns, run


def written(shapes: Shapes) -> tuple[list[int], list[int], list[int]]:
    """The numbers that travel: of rows, of columns and of runs."""
    numbers: tuple[list[int], list[int], list[int]] = ([], [], [])
    last_rows = last_run = 1
    for rows, columns, run in shapes.reshape(-1, 3).tolist():
        single = rows == 1
        numbers[0].append(rows - 1)
        numbers[1].append(columns - (1 if single else last_rows))
        numbers[2].append(run - (last_rows if single else last_run))
        if not single:
            last_rows, last_run = rows, run
    return numbers


def read(
    rows: list[int], columns: list[int], runs: list[int], entries: int, *, offset: int
) -> Shapes:
    """The shapes behind `written`; they fill the vector, with no more rows and columns than it is worth."""
    found: list[int] = []
    left, last_rows, last_run = entries, 1, 1
    for count, across, run in zip(rows, columns, runs, strict=True):
        single = count == 0
        shape = (
            count + 1,
            across + (1 if single else last_rows),
            run + (last_rows if single else last_run),
        )
        size = math.prod(shape)
        plain = shape[:2] == (1, 1)
        if min(shape) < 1 or size > left or not (plain or size >= WORTH * (shape[0] + shape[1])):
            raise FrameError(offset, f"shapes of tensors that fill {entries} entries", shape)
        if not single:
            last_rows, last_run = shape[0], shape[2]
        found += shape
        left -= size
    if left:
        raise FrameError(offset, f"shapes of tensors that fill {entries} entries", entries - left)
    return np.array(found, dtype=np.int64)
