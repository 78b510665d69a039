"""Adding to a sum, and sums of squares, in one order of additions: the reference of adding.c."""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.native import native
from lossyfl.kernels.values import Bounds, Symbols, looked_up, width_of

Vector = NDArray[np.float32]
Squares = NDArray[np.float64]

MOST_GROUP = 8


@native("f32[] f f32[]! -> i")
def add(x: Vector, weight: float, total: Vector) -> int:
    """Total += weight x; -1 if x is shorter."""
    if len(total) > len(x):
        return -1
    total += np.float32(weight) * x[: len(total)]
    return 0


@native("s[] i64[] f32[] f32[]! -> i")
def add_rows(symbols: Symbols, bounds: Bounds, rows: Vector, total: Vector) -> int:
    """total[i] += rows[block of i, symbols[i]]; -1 if something is out of bounds."""
    width = width_of(symbols, bounds, rows)
    if width < 1 or bounds[-1] > len(total):
        return -1
    total[bounds[0] : bounds[-1]] += looked_up(symbols, bounds, rows, width)
    return 0


@native("s[] f32[] i f32[]! -> i")
def add_letters(letters: Symbols, rows: Vector, group: int, total: Vector) -> int:
    """total[i group + k] += rows[letters[i], k]; -1 if something is out of bounds."""
    if not 1 <= group <= MOST_GROUP or -(-len(total) // group) > len(letters):
        return -1
    own = letters[: -(-len(total) // group)]
    if len(own) and int(own.max()) >= rows.size // group:
        return -1
    total += (
        rows.reshape(-1)[: rows.size // group * group].reshape(-1, group)[own].ravel()[: len(total)]
    )
    return 0


def _in_lanes(terms: Squares) -> float:
    """Four lanes, added up in a fixed order: quick in the library, and the same bits everywhere."""
    whole = len(terms) // 4 * 4
    lanes = np.zeros((4, whole // 4 + 1))
    lanes[:, 1:] = terms[:whole].reshape(-1, 4).T
    a, b, c, d = np.cumsum(lanes, axis=1)[:, -1].tolist()
    for term in terms[whole:].tolist():
        a += term
    return (a + b) + (c + d)


@native("f32[] -> d")
def sum_of_squares(x: Vector) -> float:
    """The sum of squares in float64."""
    return _in_lanes(np.square(x, dtype=np.float64))


@native("s[] f64[] -> d")
def sum_looked_up(letters: Symbols, squares: Squares) -> float:
    """The sum of squares[letter]; -1 if there is a letter that has none."""
    if len(letters) and int(letters.max()) >= len(squares):
        return -1.0
    return _in_lanes(squares[letters])


@native("s[] i64[] f64[] -> d")
def sum_rows(symbols: Symbols, bounds: Bounds, squares: Squares) -> float:
    """The sum of squares[block of i, symbols[i]], one after the other; -1 if something is out of bounds."""
    width = width_of(symbols, bounds, squares)
    if width < 1:
        return -1.0
    terms = looked_up(symbols, bounds, squares, width)
    return float(np.cumsum(terms)[-1]) if len(terms) else 0.0
