"""Symbols in the order of their keys: the reference of classes.c.

The *key* of an entry is known from the levels of its row and column and the lean of its row (`levels.py`):
31 times the size of the lean, plus both levels. Symbols travel by key, from the lowest to the highest, and
in their own order within one; those of rows that lean down are turned round, s to alphabet - 1 - s, so that
leans differ in their size alone.
"""

import numpy as np
from numpy.typing import NDArray

from lossyfl.kernels.levels import (
    KEYS,
    SCORES,
    UPRIGHT,
    Bytes,
    Ints,
    Shapes,
    are_levels,
    are_shapes,
    matrices,
)
from lossyfl.kernels.native import native

Ranks = NDArray[np.uint32]


def _has_room(shapes: Shapes, ranks: Ranks, held: Bytes) -> bool:
    """Whether a row of every tensor of several columns fits both."""
    room = min(len(ranks), len(held))
    return all(
        across == 1 or across * run <= room for _, across, run in shapes.reshape(-1, 3).tolist()
    )


def keys_of(
    entries: int, shapes: Shapes, rows: Bytes, columns: Bytes, leans: Bytes
) -> tuple[Bytes, NDArray[np.bool_]]:
    """The key of every entry, and whether it is turned round."""
    keys, down = np.empty(entries, np.uint8), np.empty(entries, np.bool_)
    own = matrices(keys, shapes, rows, columns, leans)
    for of, turned in zip(
        own, matrices(down.view(np.uint8), shapes, rows, columns, leans), strict=True
    ):
        lean = np.abs(of.leans.astype(np.int64) - UPRIGHT)[:, None]
        of.symbols[:] = SCORES * lean + of.rows[:, None] + of.columns[of.of_column]
        turned.symbols[:] = (of.leans < UPRIGHT)[:, None]
    return keys, down


@native("i64[] i u8[] u8[] u8[] i64[]! -> i")
def key_starts(
    shapes: Shapes, entries: int, rows: Bytes, columns: Bytes, leans: Bytes, starts: Ints
) -> int:
    """Where each key begins, and the last one ends; -1 if sizes do not fit."""
    if len(starts) != KEYS + 1 or not are_shapes(shapes, entries, len(rows), len(columns)):
        return -1
    if not are_levels(rows, columns, leans):
        return -1
    keys, _ = keys_of(entries, shapes, rows, columns, leans)
    starts[0] = 0
    np.cumsum(np.bincount(keys, minlength=KEYS), out=starts[1:])
    return 0


@native("u8[] i i64[] u8[] u8[] u8[] u32[]! u8[]! u8[]! -> i")
def gather_keys(
    symbols: Bytes,
    alphabet: int,
    shapes: Shapes,
    rows: Bytes,
    columns: Bytes,
    leans: Bytes,
    ranks: Ranks,
    held: Bytes,
    out: Bytes,
) -> int:
    """The symbols by key; -1 if sizes do not fit.

    ranks, held: room for a row of each tensor that has several columns
    """
    if alphabet < 2 or len(out) != len(symbols) or not _has_room(shapes, ranks, held):
        return -1
    if not are_shapes(shapes, len(symbols), len(rows), len(columns)):
        return -1
    if not are_levels(rows, columns, leans) or int(symbols.max()) >= alphabet:
        return -1
    keys, down = keys_of(len(symbols), shapes, rows, columns, leans)
    out[:] = np.where(down, alphabet - 1 - symbols, symbols)[np.argsort(keys, kind="stable")]
    return 0


@native("u8[] i64[] u8[] u8[] u8[] b[] i u32[]! u8[]! b[]! -> i")
def scatter_keys(
    keyed: Bytes,
    shapes: Shapes,
    rows: Bytes,
    columns: Bytes,
    leans: Bytes,
    values: NDArray[np.generic],
    alphabet: int,
    ranks: Ranks,
    held: Bytes,
    out: NDArray[np.generic],
) -> int:
    """`values[symbol]` of symbols by key, where they belong; -1 if sizes do not fit."""
    if not 2 <= alphabet <= 256 or len(values) != alphabet or values.itemsize not in (1, 4):
        return -1
    if (
        len(out) != len(keyed)
        or out.itemsize != values.itemsize
        or not _has_room(shapes, ranks, held)
    ):
        return -1
    if not are_shapes(shapes, len(keyed), len(rows), len(columns)):
        return -1
    if not are_levels(rows, columns, leans) or int(keyed.max()) >= alphabet:
        return -1
    keys, down = keys_of(len(keyed), shapes, rows, columns, leans)
    symbols = np.empty_like(keyed)
    symbols[np.argsort(keys, kind="stable")] = keyed
    out[:] = values[np.where(down, alphabet - 1 - symbols, symbols)]
    return 0
